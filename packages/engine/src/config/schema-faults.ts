import { suggestion } from '@sallyport/core'
import type { z } from 'zod'
import type { ConfigFault } from './faults.ts'
import { type Layer, valueAt } from './layers.ts'
import { located } from './located.ts'
import { removal } from './removed-keys.ts'
import { nodeAt, type SchemaNode } from './tree.ts'

/** Turns faults of a schema into faults of the values in these layers. `input` is the parsed value. */
export function schemaFaults(
  { issues }: z.ZodError,
  input: unknown,
  layers: readonly Layer[],
  tree: SchemaNode,
): readonly ConfigFault[] {
  return issues.flatMap(ofOneKind).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') {
      const given = valueAt(input, issue.path)
      return [located({ path: issue.path, message: writeMessage(issue, given) }, input, layers)]
    }
    const known = listKeys(nodeAt(tree, issue.path))
    return issue.keys.map((key) => {
      const { place, rule } = located({ path: [...issue.path, key], message: '' }, input, layers)
      const name = [...issue.path.map(String), key].join('.')
      const removed = removal([...issue.path, key])
      const message =
        removed === undefined ? `unknown key "${name}"${suggestion(key, known)}` : `"${name}" was removed. ${removed}`
      return { message, ...(place && { place }), ...(rule && { rule }) }
    })
  })
}

function writeMessage(issue: z.core.$ZodIssue, given: unknown): string {
  if (given === undefined) return 'is missing'
  if (issue.code === 'invalid_value' && typeof given === 'string') return unknownWord(given, issue.values)
  // The key of a map was refused for the reason in its inner issue.
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message
  return issue.message.replace(/^(Invalid input|Too small|Too big): /, '')
}

function unknownWord(given: string, values: readonly unknown[]): string {
  return `"${given}" is unknown${suggestion(given, values.map(String))}`
}

function listKeys({ properties, anyOf = [] }: SchemaNode = {}): readonly string[] {
  return properties === undefined ? anyOf.flatMap(listKeys) : Object.keys(properties)
}

type Issue = z.core.$ZodIssue

/** Returns the faults of a value's own kind, else the permitted kinds: the library only reports the whole value as invalid. */
function ofOneKind(issue: Issue): readonly Issue[] {
  if (issue.code !== 'invalid_union' || issue.message !== UNSAID) return [issue]
  const own = issue.errors.find((errors) => errors.length > 0 && !errors.some(isOther))
  if (own !== undefined) return own.map((one) => ({ ...one, path: [...issue.path, ...one.path] })).flatMap(ofOneKind)
  const kinds = issue.errors.flat().filter(isOther)
  const values = kinds.flatMap((one) => (one.code === 'invalid_value' ? one.values : []))
  const types = kinds.flatMap((one) => (one.code === 'invalid_type' ? (KINDS[one.expected] ?? one.expected) : []))
  const message = `must be ${[...new Set([...values.map(String), ...types])].join(' or ')}`
  if (types.length > 0 || values.length === 0) return [{ code: 'custom', path: issue.path, message }]
  return [{ code: 'invalid_value', path: issue.path, values, message }]
}

/** The library reports a union without its own message in these words. */
const UNSAID = 'Invalid input'

function isOther({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
}
