/** These members decide what a server does, by the object that has them. */
const DECISIVE = {
  message: ['jsonrpc', 'id', 'method', 'params'],
  params: ['name', 'uri', 'taskId'],
} as const

/** An object or an array is open. */
interface Frame {
  readonly names: readonly string[]
  readonly seen: string[]
  key: string
}

const [QUOTE, BACKSLASH, COLON, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 58, 91, 93, 123, 125]
const NO_NAMES: readonly string[] = []

/**
 * Finds a member of a message, or of its `params`, that occurs twice or in another case; `text` is valid JSON. Parsers take the first or
 * the last of two, and Go's reads any case, so a server could carry out an uninspected call (RFC 8259 section 4).
 */
export function findAmbiguous(text: string): string | undefined {
  const frames: Frame[] = []
  let [start, end] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      start = at
      at = findEnd(text, at)
      end = at + 1
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      frames.push({ names: code === OPEN_OBJECT ? decisiveNames(frames) : NO_NAMES, seen: [], key: '' })
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      frames.pop()
    } else if (code === COLON) {
      const found = findRepeated(frames.at(-1) as Frame, text.slice(start, end))
      if (found !== undefined) return found
    }
  }
  return undefined
}

function findEnd(text: string, start: number): number {
  let at = start + 1
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}

/** Records a member as written, and returns its name where it is repeated or spelt otherwise. */
function findRepeated(frame: Frame, written: string): string | undefined {
  if (frame.names.length === 0) return undefined
  frame.key = JSON.parse(written) as string
  const name = frame.names.find((one) => fold(one) === fold(frame.key))
  if (name === undefined) return undefined
  if (name !== frame.key || frame.seen.includes(name)) return name
  frame.seen.push(name)
  return undefined
}

/** Returns the members to look for in a nested object: a message is the text itself, or an element of its array. */
function decisiveNames(around: readonly Frame[]): readonly string[] {
  const outer = around.at(-1)
  if (outer === undefined) return DECISIVE.message
  if (outer.names === DECISIVE.message) return outer.key === 'params' ? DECISIVE.params : NO_NAMES
  return around.length === 1 && outer.names.length === 0 ? DECISIVE.message : NO_NAMES
}

/** Folds letters that are another letter's capital too, as the long s and the kelvin sign. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase()
}
