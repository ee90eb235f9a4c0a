import type { PolicyFault } from '../language/fault.ts'
import { isFixedPlace } from '../paths/fixed-place.ts'
import type { Rule } from '../policy.ts'
import type { Match } from '../words/match-words.ts'

/** Warns of a rule that never challenges, or whose challenge cannot be shown because no browser opens a page that matches the rule. */
export function challengeWarnings({ id, action, match }: Rule, index: number): readonly PolicyFault[] {
  if (action !== 'challenge') return []
  const word = WORDS.find(({ name, isMissed }) => match[name] !== undefined && isMissed(match))
  if (word === undefined) return []
  return [{ path: ['rules', index, 'match', word.name], rule: id, message: word.message }]
}

const UNSHOWN =
  'every matching request gets a 403 in JSON, which only API clients and pages with pass.js can solve. Use block, or match navigations too'

interface Word {
  readonly name: keyof Match
  /** Reports whether no request that matches the word opens a page. */
  isMissed(match: Match): boolean
  readonly message: string
}

/** Links and forms send these methods. */
const NAVIGATING: readonly string[] = ['GET', 'HEAD', 'POST']
const PROVEN: readonly string[] = ['verified_crawler']

const WORDS: readonly Word[] = [
  {
    name: 'path',
    isMissed: ({ path = [] }) => path.length > 0 && path.every(isFixedPlace),
    message: 'these paths are never challenged, because programs fetch them at fixed URLs',
  },
  {
    name: 'class',
    isMissed: ({ class: given = [] }) => isOnly(given, PROVEN),
    message: 'verified crawlers are never challenged',
  },
  {
    name: 'crawlerOutcome',
    isMissed: ({ crawlerOutcome: given = [] }) => isOnly(given, ['verified', 'pending']),
    message: 'a crawler that is verified, or being verified, is never challenged',
  },
  {
    name: 'method',
    isMissed: ({ method: given = [] }) =>
      given.length > 0 && !given.some((one) => NAVIGATING.includes(one.toUpperCase())),
    message: `browsers open pages with GET and POST only: ${UNSHOWN}`,
  },
  {
    name: 'purpose',
    isMissed: ({ purpose = [] }) => purpose.length > 0,
    message: `clients that identify as bots display no page: ${UNSHOWN}`,
  },
  {
    name: 'crawler',
    isMissed: ({ crawler = [] }) => crawler.length > 0,
    message: `clients that identify as bots display no page: ${UNSHOWN}`,
  },
]

function isOnly(given: readonly string[], allowed: readonly string[]): boolean {
  return given.length > 0 && given.every((one) => allowed.includes(one))
}
