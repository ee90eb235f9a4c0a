import type { Inspection } from '../../values/inspection.ts'
import { unknown } from '../language/fault.ts'
import { texts } from '../language/values.ts'
import { type Test, testValue, word } from './match-word.ts'

const NAMES = texts((name) => (name === '' ? unknown(name) : undefined))

/** Holds conditions on what the application says of its user, which can differ at each request. */
export const USER_WORDS = {
  user: word("User IDs from the adapter's identify, or * for any", NAMES, {
    asks: 'request',
    example: ['4711'],
    test: (given) => nameTest(given, ({ user }) => user),
  }),
  plan: word('User plans, or * for any', NAMES, {
    asks: 'request',
    example: ['free'],
    test: (given) => nameTest(given, ({ plan }) => plan),
  }),
}

function nameTest(names: readonly string[], read: (inspection: Inspection) => string | undefined): Test {
  return names.includes('*') ? (inspection) => read(inspection) !== undefined : testValue(names, read)
}
