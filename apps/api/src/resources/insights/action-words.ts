// A stored action as a model is told of it: one line that holds everything that helps to choose it and to carry it out.

export interface NamedAction {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly type: string
  readonly priority: string
  readonly channel?: string
  readonly channel_template?: string
  readonly custom_insights?: string
  readonly start_date?: string
  readonly end_date?: string
}

export function toWords(action: NamedAction): string {
  const facts = [
    ['type', action.type],
    ['priority', action.priority.replace('_', ' ')],
    ['channel', action.channel],
    ['from', action.start_date?.slice(0, 10)],
    ['until', action.end_date?.slice(0, 10)],
    ['message template', action.channel_template],
    ['known about it', action.custom_insights],
  ].filter(([, fact]) => fact)
  const about = facts.map(([what, fact]) => `${what}: ${fact}`).join('; ')
  return `${[action.name, action.description].filter(Boolean).join(': ')} (${about})`.replace(/\s+/g, ' ').trim()
}
