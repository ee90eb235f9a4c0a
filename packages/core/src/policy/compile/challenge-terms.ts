import type { BanChallenge } from '../../counting/strikes.ts'
import { toMilliseconds } from '../../duration.ts'
import { isInternal } from '../../network/inside.ts'
import type { ChallengeTerms, InspectedPass } from '../../values/challenge.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { CrawlerPurpose } from '../../vocabulary.ts'
import { Asked } from '../language/asked.ts'
import { isFixedPlace } from '../paths/fixed-place.ts'
import type { Rule } from '../policy.ts'

/** A rule that challenges, checked. */
export interface CompiledChallenge {
  readonly terms: ChallengeTerms
  /** Age in seconds below which a pass is enough, whatever is asked for with it; 0: it is not. */
  answeredUntil(pass: InspectedPass | undefined): number
  /** Whether a visitor whom the rule matches, and whose pass is not enough, is to be challenged. */
  asks(inspection: Inspection, asked: Asked): boolean
}

export const DEFAULT_PASS = '12h'

/** `undefined` for a rule that does not challenge. Every member has been checked. */
export function compileChallenge({ action, challenge = {}, limit, match }: Rule): CompiledChallenge | undefined {
  if (action !== 'challenge') return undefined
  const { level = 1, pass = DEFAULT_PASS, script } = challenge
  const terms = Object.freeze({ level, passMs: toMilliseconds(pass), script: script === 'required' })
  // The budget of a pass is used up: that it is held is the reason to challenge.
  const isBudget = limit !== undefined && [limit.key].flat().includes('pass')
  const named = new Set<string>([...(match.purpose ?? []), ...(match.crawler ?? [])])
  return {
    terms,
    answeredUntil: (pass) => (isBudget || pass === undefined || pass.level < level ? 0 : ageMet(pass, terms)),
    // A limit counts preflights, as any client can write one and get the page.
    asks: (inspection, asked) =>
      !isNeverAsked(inspection, named) && (limit !== undefined || !isPreflight(inspection.request.method, asked)),
  }
}

/**
 * Age in seconds below which a pass is as a rule asks: one that was given for longer than the rule's passes holds there for as long
 * as those, once, since nobody knows when a renewed one was earned.
 */
function ageMet({ age, maxAge, renewed, waited }: InspectedPass, { passMs, script }: ChallengeTerms): number {
  if (script && waited) return 0
  const seconds = Math.ceil(passMs / 1_000)
  if (maxAge !== undefined && maxAge <= seconds) return Number.POSITIVE_INFINITY
  return renewed || age >= seconds ? 0 : seconds
}

const NONE_NAMED: ReadonlySet<string> = new Set()

/** The challenge to banned clients, where a ban challenges. */
export const BAN_CHALLENGE: BanChallenge = {
  terms: Object.freeze({ level: 2, passMs: toMilliseconds(DEFAULT_PASS), script: false }),
  asks(inspection, fields) {
    const asked = new Asked({ fields })
    return !isNeverAsked(inspection, NONE_NAMED) && !isPreflight(inspection.request.method, asked)
  },
}

/** Readers that show no page to anybody: challenged only by a rule that names them, or under a name that was disproved. */
const ASKED_BY_NAME: ReadonlySet<string> = new Set(['feed', 'federation', 'preview'] satisfies CrawlerPurpose[])

/**
 * Whether a request is never challenged, whatever the rule: its client is proven, or the check of that is not over, or it is a
 * trusted proxy of ours; its address is of no network; or programs fetch what it asks for at a fixed place. `named`: purposes and crawlers that a rule names.
 */
function isNeverAsked({ agent, client, crawler, network, request }: Inspection, named: ReadonlySet<string>): boolean {
  if (agent.identity?.verified === true || crawler?.outcome === 'verified' || crawler?.pending === true) return true
  if (client.isProxy === true || isInternal(network.reserved)) return true
  const { path, readings } = request
  // Every reading: a path that an origin takes for another one is no fixed place, nor one of too many readings.
  if (isFixedPlace(path) && (readings === undefined || (readings.length > 0 && readings.every(isFixedPlace))))
    return true
  const purpose = crawler?.purpose ?? agent.purpose
  if (purpose === undefined || !ASKED_BY_NAME.has(purpose) || crawler?.outcome === 'spoofed') return false
  return !named.has(purpose) && !(crawler !== undefined && named.has(crawler.slug))
}

/** A browser asks whether it may ask: for some origin, and without cookies (Fetch section 4.8). */
function isPreflight(method: string, asked: Asked): boolean {
  if (method !== 'OPTIONS' || asked.has('cookie')) return false
  return asked.has('access-control-request-method') && asked.has('origin')
}
