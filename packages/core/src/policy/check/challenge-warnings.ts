import type { PolicyFault } from '../language/fault.ts'
import { isFixedPlace } from '../paths/fixed-place.ts'
import type { Rule } from '../policy.ts'

/** Warns of a rule that never challenges, or whose challenge cannot be shown because no browser opens a page that matches the rule. */
export function challengeWarnings({ id, action, match }: Rule, index: number): readonly PolicyFault[] {
  if (action !== 'challenge') return []
  const word = WORDS.find(({ name, isMissed }) => (match[name]?.length ?? 0) > 0 && match[name]?.every(isMissed))
  if (word === undefined) return []
  return [{ path: ['rules', index, 'match', word.name], rule: id, message: word.message }]
}

const UNSHOWN =
  'every matching request gets a 403 in JSON, which only API clients and pages with pass.js can solve. Use block, or match navigations too'

/** Links and forms send these methods. */
const NAVIGATING: readonly string[] = ['GET', 'HEAD', 'POST']

const BOTS = { isMissed: () => true, message: `clients that identify as bots display no page: ${UNSHOWN}` }

interface Word {
  readonly name: 'path' | 'class' | 'crawlerOutcome' | 'method' | 'purpose' | 'crawler'
  /** Reports whether no request that matches this value of the word opens a page. */
  isMissed(value: string): boolean
  readonly message: string
}

const WORDS: readonly Word[] = [
  {
    name: 'path',
    isMissed: isFixedPlace,
    message: 'these paths are never challenged, because programs fetch them at fixed URLs',
  },
  {
    name: 'class',
    isMissed: (given) => given === 'verified_crawler',
    message: 'verified crawlers are never challenged',
  },
  {
    name: 'crawlerOutcome',
    isMissed: (given) => given === 'verified' || given === 'pending',
    message: 'a crawler that is verified, or being verified, is never challenged',
  },
  {
    name: 'method',
    isMissed: (given) => !NAVIGATING.includes(given.toUpperCase()),
    message: `browsers open pages with GET and POST only: ${UNSHOWN}`,
  },
  { name: 'purpose', ...BOTS },
  { name: 'crawler', ...BOTS },
]
