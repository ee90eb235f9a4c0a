import type { Inspection } from '../../values/inspection.ts'
import { unknown } from '../language/fault.ts'
import { texts } from '../language/values.ts'
import type { Test, WordsOf } from './match-word.ts'

/** Conditions on what the application says of its user, which can be another thing at each request. */
export interface UserMatch {
  /** Ids that the application gave its own users, or `*` for any; no request without one. */
  readonly user?: readonly string[] | undefined
  /** Plans of those users, or `*` for any. */
  readonly plan?: readonly string[] | undefined
}

const NAMES = texts((name) => (name === '' ? unknown(name) : undefined))

export const USER_WORDS: WordsOf<UserMatch> = {
  user: {
    values: NAMES,
    asks: 'request',
    robots: false,
    description: 'Users, by the ids that identify of an adapter gives; * for any',
    example: ['4711'],
    test: (given) => nameTest(given, ({ user }) => user),
  },
  plan: {
    values: NAMES,
    asks: 'request',
    robots: false,
    description: 'Plans of those users; * for any',
    example: ['free'],
    test: (given) => nameTest(given, ({ plan }) => plan),
  },
}

function nameTest(names: readonly string[], read: (inspection: Inspection) => string | undefined): Test {
  const wanted = new Set(names)
  const any = wanted.has('*')
  return (inspection) => {
    const name = read(inspection)
    return name !== undefined && (any || wanted.has(name))
  }
}
