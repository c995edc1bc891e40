// Finds JSON objects in what a model wrote, behind thoughts, prose and code fences.

/** Enough for any honest answer; keeps text made of braces from costing quadratic time. */
const ATTEMPTS_MAX = 50

export function* objectsIn(text: string): Generator<object> {
  const spoken = withoutThoughts(text)
  let attempts = 0
  let at = spoken.indexOf('{')
  while (at !== -1 && attempts++ < ATTEMPTS_MAX) {
    const end = balancedEnd(spoken, at)
    const value = end === undefined ? undefined : parseObject(spoken.slice(at, end))
    if (value) yield value
    at = spoken.indexOf('{', value && end !== undefined ? end : at + 1)
  }
}

/** A thought that was opened by the chat template has only its closing tag in the text. */
const withoutThoughts = (text: string): string => {
  const closed = text.lastIndexOf('</think>')
  return closed === -1 ? text : text.slice(closed + '</think>'.length)
}

function balancedEnd(text: string, start: number): number | undefined {
  let depth = 0
  let isInString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (isInString) {
      if (character === '\\') at++
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return at + 1
  }
  return undefined
}

function parseObject(text: string): object | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
