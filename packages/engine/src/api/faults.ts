import type { z } from 'zod'

/** Says what is wrong with one field of a request. */
export interface FieldFault {
  /** Uses the caller's own names, `headers.user-agent`; the whole is `body`, `path` or `query`. */
  readonly field: string
  readonly message: string
}

export const MAX_FAULTS = 20
const MAX_PATH = 100
const MAX_WORDS = 12

type Issue = z.core.$ZodIssue

/** Lists the faults of an input, in the order of its fields; `whole` names the input, which the issues report. */
export function fieldFaults(issues: readonly Issue[], whole: string): readonly FieldFault[] {
  return issues
    .slice(0, MAX_FAULTS)
    .map((issue) => ({ field: writeField(issue.path, whole), message: writeMessage(issue) }))
}

/** Writes a field as its caller did: `items.3.ip`; an empty path means the whole. */
export function writeField(path: readonly PropertyKey[], whole: string): string {
  return path.map(String).join('.').slice(0, MAX_PATH) || whole
}

function writeMessage(issue: Issue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is missing'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return issue.values.length > MAX_WORDS
        ? 'is not a known word'
        : `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${boundText('at least', issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${boundText('at most', issue.origin, issue.maximum)}`
    case 'unrecognized_keys':
      return `has unknown members: ${issue.keys.slice(0, MAX_WORDS).join(', ').slice(0, MAX_PATH)}`
    case 'invalid_key':
    case 'invalid_element':
    case 'invalid_union':
    case 'invalid_format':
      return 'does not have the required form'
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'custom':
      return issue.message
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of members',
  record: 'a map of members',
  array: 'a list',
  null: 'null',
}

function boundText(bound: 'at least' | 'at most', origin: string, limit: number | bigint): string {
  switch (origin) {
    case 'string':
      return `have ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`
    case 'array':
    case 'set':
      return `have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`
    default:
      return `be ${bound} ${limit}`
  }
}
