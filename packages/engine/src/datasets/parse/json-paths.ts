import { isRecord } from '@sallyport/core'

/**
 * A path in a JSON document has keys, `*` for every member of an array or an object, and `*[key=value]` for the members with that value.
 */
export type JsonPath = string

/** No format nests deeper; a document that does is not read further, so that it cannot exhaust the stack. */
const MAX_DEPTH = 16

/** Parses JSON; returns `undefined` for any other text. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the values at a path, in document order; none when the document has another form. Null counts as absent. */
export function valuesAt(document: unknown, path: JsonPath): readonly unknown[] {
  let values: readonly unknown[] = [document]
  for (const step of path.split('.')) {
    values = values.flatMap((value) => {
      if (step.startsWith('*')) return members(value).filter((member) => isSelected(member, step))
      return isRecord(value) && Object.hasOwn(value, step) ? [value[step]] : []
    })
  }
  return values.filter((value) => value !== null && value !== undefined)
}

/** Reports whether a step selects a member: `*` selects all, `*[key=value]` those with that value. */
function isSelected(member: unknown, step: JsonPath): boolean {
  const [key, wanted] = step.slice('*['.length, -1).split('=')
  return wanted === undefined || (isRecord(member) && member[key as string] === wanted)
}

/** Lists every string of a document, at any place. */
export function everyString(document: unknown, depth = 0): readonly string[] {
  if (typeof document === 'string') return [document]
  return depth === MAX_DEPTH ? [] : members(document).flatMap((member) => everyString(member, depth + 1))
}

function members(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isRecord(value) ? Object.values(value) : []
}
