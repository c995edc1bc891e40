// Steps of a turn as OpenAI's streamed chunks, in the order docs/contract.md gives under Inference.
import type { Delta, Logprobs, Usage } from '../outside/models/engine.ts'
import type { Step } from './answer.ts'
import type { Verdict } from './guard/judge.ts'
import type { Choice } from './router.ts'

/** Usage and verdict as clients see them: what is only ours to know is left out. */
type Shown<Stage> = Omit<Stage, 'status' | 'usage'> & { readonly usage: Usage }

export interface ChunkChoice {
  readonly index: 0
  readonly delta: Omit<Delta, 'logprobs'> & { readonly role?: 'assistant' }
  readonly logprobs?: Logprobs
  readonly finish_reason: string | null
}

export interface ChunkBody {
  readonly choices: readonly ChunkChoice[]
  readonly guard?: Shown<Verdict>
  readonly router?: Shown<Choice>
  readonly usage?: Usage
}

/**
 * Gives what each step of one answer shows. `head` is what every chunk repeats: id, object, model, times. The end mark is the
 * transport's.
 */
export function chunkMaker<Head extends object>(head: Head): (step: Step) => readonly (Head & ChunkBody)[] {
  let stages: Pick<ChunkBody, 'guard' | 'router'> = {}
  let isFlagged = false
  let isFirst = true
  return (step) => {
    if ('delta' in step || 'echo' in step) {
      const said: Delta = 'delta' in step ? step.delta : { content: step.echo }
      const delta = isFirst ? { role: 'assistant' as const, ...said } : said
      isFirst = false
      if (!said.logprobs) return [{ ...head, choices: choice(delta, null) }]
      const { logprobs, ...words } = { ...delta, logprobs: said.logprobs }
      return [{ ...head, choices: [{ index: 0, delta: words, logprobs, finish_reason: null }] }]
    }
    if ('answer' in step) {
      const { finish_reason, usage } = step.answer
      const finish = { ...head, choices: choice({}, finish_reason) }
      return isFlagged ? [finish] : [finish, { ...head, choices: [], usage: shownUsage(usage), ...stages }]
    }
    if ('asking' in step || 'spent' in step) return []
    // An empty choice, because many clients look at the first one without asking whether it is there.
    const shown = 'guard' in step ? { guard: shownStage(step.guard) } : { router: shownStage(step.router) }
    isFlagged ||= 'guard' in step && step.guard.status === 'flagged'
    stages = { ...stages, ...shown }
    return [{ ...head, choices: choice({}, null), ...shown }]
  }
}

const choice = (delta: ChunkChoice['delta'], finish_reason: string | null): readonly ChunkChoice[] => [
  { index: 0, delta, finish_reason },
]

function shownStage<Stage extends Verdict | Choice>(stage: Stage): Shown<Stage> {
  const { status: _, usage, ...shown } = stage as Stage & { status?: unknown }
  return { ...shown, usage: shownUsage(usage) } as Shown<Stage>
}

const shownUsage = ({ prompt_tokens, completion_tokens, total_tokens }: Usage): Usage => ({
  prompt_tokens,
  completion_tokens,
  total_tokens,
})
