import { ShapeError } from './shape.ts'

/** Strings and what opens, closes and divides objects and lists; numbers and words are of no interest here. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs

/**
 * The value of a JSON text of which no object has a member twice (RFC 8259 4: readers do not agree on which one counts, and
 * JSON.parse keeps the last silently). Throws ShapeError, whose message begins with `name`.
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

/** The first member that is twice in an object of a text that is JSON. */
function doubledMember(text: string): string | undefined {
  // Of a list nothing is kept.
  const open: (Set<string> | undefined)[] = []
  let isName = false
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (isName && token.startsWith('"')) {
      const names = open.at(-1)
      const found: string = JSON.parse(token)
      if (names?.has(found)) return found
      names?.add(found)
    }
    isName = token === '{' || (token === ',' && open.at(-1) !== undefined)
  }
  return undefined
}
