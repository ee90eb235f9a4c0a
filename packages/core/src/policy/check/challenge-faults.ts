import { CHALLENGE_LEVELS } from '../../values/challenge.ts'
import { closedFaults, type Fault } from '../language/fault.ts'
import { isFixedPlace } from '../paths/fixed-place.ts'
import type { Rule } from '../policy.ts'
import { durationFault } from './counting-faults.ts'

export function challengeFaults({ action, challenge }: Rule): readonly Fault[] {
  if (challenge === undefined) return []
  if (action !== 'challenge') return [{ path: ['challenge'], message: 'applies only to the action challenge' }]
  const { level = 1, pass, script } = challenge
  const faults = [...closedFaults([[['challenge', 'level'], level, CHALLENGE_LEVELS]])]
  if (pass !== undefined) {
    faults.push(...durationFault(['challenge', 'pass'], pass, 60_000, '1m to 31d, such as 30m, 12h or 7d'))
  }
  if (script !== undefined && level === 1) {
    faults.push({ path: ['challenge', 'script'], message: 'level 1 runs no script. Use level 2 or 3' })
  }
  return faults
}

/** Warns of a rule that never challenges, or whose challenge cannot be shown because no browser opens a page that matches the rule. */
export function challengeWarnings({ action, match }: Rule): readonly Fault[] {
  if (action !== 'challenge') return []
  const word = WORDS.find(({ name, isMissed }) => (match[name]?.length ?? 0) > 0 && match[name]?.every(isMissed))
  return word === undefined ? [] : [{ path: ['match', word.name], message: word.message }]
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
