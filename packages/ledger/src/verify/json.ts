import { ShapeError } from './shape.ts'

/**
 * Parses a JSON text in which no object has a member twice (RFC 8259 4: parsers disagree on which member counts, and JSON.parse keeps the
 * last silently). Throws ShapeError, whose message begins with `name`.
 */
export function parseJson(text: string, name: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ShapeError(`${name}: not JSON`)
  }
  const doubled = doubledMember(text)
  if (doubled !== undefined) throw new ShapeError(`${name}: ${JSON.stringify(doubled)} is there twice in one object`)
  return value
}

/** Returns the first member that is twice in an object of a JSON text. */
function doubledMember(text: string): string | undefined {
  // Numbers and words are skipped.
  const marks = /["{}[\],:]/g
  // Each open object has the set of its names; a list has `undefined`.
  const open: (Set<string> | undefined)[] = []
  let isName = false
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    const [mark] = found
    if (mark === '{') open.push(new Set())
    else if (mark === '[') open.push(undefined)
    else if (mark === '}' || mark === ']') open.pop()
    else if (mark === '"') {
      marks.lastIndex = findStringEnd(text, marks.lastIndex)
      const names = isName ? open.at(-1) : undefined
      const name: string = names === undefined ? '' : JSON.parse(text.slice(found.index, marks.lastIndex))
      if (names?.has(name)) return name
      names?.add(name)
    }
    isName = mark === '{' || (mark === ',' && open.at(-1) !== undefined)
  }
  return undefined
}

/** Returns the end of a string that begins at `at`. A regular expression for all of it needs a stack as long as the string. */
function findStringEnd(text: string, at: number): number {
  let quote = text.indexOf('"', at)
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote + 1
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text[before] === '\\') before -= 1
  return (at - 1 - before) % 2 === 1
}
