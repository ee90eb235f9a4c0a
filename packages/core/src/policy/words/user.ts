import type { Inspection } from '../../values/inspection.ts'
import { unknown } from '../language/fault.ts'
import { texts } from '../language/values.ts'
import { type Test, word } from './match-word.ts'

const NAMES = texts((name) => (name === '' ? unknown(name) : undefined))

/** Holds conditions on what the application says of its user, which can differ at each request. */
export const USER_WORDS = {
  /** Matches ids that the application gave its users, or `*` for any; a request without a user never matches. */
  user: word({
    values: NAMES,
    asks: 'request',
    description: "User IDs from the adapter's identify, or * for any",
    example: ['4711'],
    test: (given) => nameTest(given, ({ user }) => user),
  }),
  /** Matches plans of those users, or `*` for any. */
  plan: word({
    values: NAMES,
    asks: 'request',
    description: 'User plans, or * for any',
    example: ['free'],
    test: (given) => nameTest(given, ({ plan }) => plan),
  }),
}

function nameTest(names: readonly string[], read: (inspection: Inspection) => string | undefined): Test {
  const wanted = new Set(names)
  const any = wanted.has('*')
  return (inspection) => {
    const name = read(inspection)
    return name !== undefined && (any || wanted.has(name))
  }
}
