import { isRecord, nearestWord } from '@sallyport/core'
import type { z } from 'zod'
import { type FieldFault, writeField } from './faults.ts'

/** Wrong letters of a name that is still taken for another. */
const MAX_LETTERS = 2
/** So many letters of a name for each that may be wrong: `id` is no `ip`. */
const LETTERS_EACH = 3

type Path = readonly (string | number)[]

/**
 * Finds members that a schema does not have, and whose names are near to one that it has: the API would ignore their values, and the answer
 * would rest on less than its caller believes. Other unknown members are no mistakes.
 */
export function misspelledFaults(schema: z.core.$ZodType, value: unknown, path: Path = []): readonly FieldFault[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return misspelledFaults(def.innerType, value, path)
    case 'array':
      if (!Array.isArray(value)) return []
      return value.flatMap((item, index) => misspelledFaults(def.element, item, [...path, index]))
    case 'object':
      return isRecord(value) ? ofObject(def.shape, value, path) : []
    default:
      return []
  }
}

function ofObject(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  value: Readonly<Record<string, unknown>>,
  path: Path,
): readonly FieldFault[] {
  const names = Object.keys(shape)
  return Object.entries(value).flatMap(([name, inner]) => {
    if (Object.hasOwn(shape, name)) return misspelledFaults(shape[name] as z.core.$ZodType, inner, [...path, name])
    const meant = guessName(name, names)
    return meant === undefined
      ? []
      : [{ field: writeField([...path, name], ''), message: `is not known; did you mean "${meant}"?` }]
  })
}

function guessName(name: string, names: readonly string[]): string | undefined {
  const isNear = (other: string) => {
    const most = Math.min(MAX_LETTERS, Math.floor(Math.max(name.length, other.length) / LETTERS_EACH))
    return nearestWord(name, [other], most) !== undefined
  }
  return nearestWord(
    name,
    names.filter((other) => isNear(other) && !isAnotherVersion(name, other)),
    MAX_LETTERS,
  )
}

/** Reports whether names differ in a digit alone, and so in what they name: JA3 is another fingerprint than JA4. */
function isAnotherVersion(name: string, other: string): boolean {
  const [one = '', two = ''] = [name, other].map((text) => text.toLowerCase())
  return one !== two && one.replace(/\d/g, '0') === two.replace(/\d/g, '0')
}
