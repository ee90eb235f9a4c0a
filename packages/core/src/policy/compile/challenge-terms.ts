import type { BanChallenge } from '../../counting/strikes.ts'
import { toMilliseconds } from '../../duration.ts'
import { isInternal } from '../../network/inside.ts'
import type { ChallengeTerms, InspectedPass } from '../../values/challenge.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { CrawlerPurpose } from '../../vocabulary.ts'
import { Asked } from '../language/asked.ts'
import { isFixedPlace } from '../paths/fixed-place.ts'
import type { Rule } from '../policy.ts'

export type CompiledChallenge = NonNullable<ReturnType<typeof compileChallenge>>

const DEFAULT_PASS = '12h'

/** Returns `undefined` for a rule that does not challenge. Every member has been checked. */
export function compileChallenge({ action, challenge = {}, limit, match }: Rule) {
  if (action !== 'challenge') return undefined
  const { level = 1, pass = DEFAULT_PASS, script } = challenge
  const terms: ChallengeTerms = Object.freeze({ level, passMs: toMilliseconds(pass), script: script === 'required' })
  // The budget of a pass is used up: the pass itself is the reason to challenge.
  const isBudget = limit !== undefined && [limit.key].flat().includes('pass')
  const named = new Set<string>([...(match.purpose ?? []), ...(match.crawler ?? [])])
  return {
    terms,
    /** Age in seconds below which a pass is enough, whatever the request; 0: it is not enough. */
    answeredUntil: (pass: InspectedPass | undefined): number =>
      isBudget || pass === undefined || pass.level < level ? 0 : ageMet(pass, terms),
    /**
     * Reports whether to challenge a visitor whom the rule matches, and whose pass is not enough. A limit counts preflights, as any client
     * can write one and get the page.
     */
    asks: (inspection: Inspection, asked: Asked): boolean =>
      !isNeverAsked(inspection, named) && (limit !== undefined || !isPreflight(inspection.request.method, asked)),
  }
}

/**
 * Returns the age in seconds below which a pass meets a rule. A pass that was given for longer than the rule's passes holds there for as
 * long as those, once, since it is unknown when a renewed pass was earned.
 */
function ageMet({ age, maxAge, renewed, waited }: InspectedPass, { passMs, script }: ChallengeTerms): number {
  if (script && waited) return 0
  const seconds = Math.ceil(passMs / 1_000)
  if (maxAge !== undefined && maxAge <= seconds) return Number.POSITIVE_INFINITY
  return renewed || age >= seconds ? 0 : seconds
}

const BAN: Rule = { id: 'ban', match: {}, action: 'challenge', challenge: { level: 2 } }
const { terms, asks } = compileChallenge(BAN) as CompiledChallenge
export const BAN_CHALLENGE: BanChallenge = {
  terms,
  asks: (inspection, fields) => asks(inspection, new Asked({ fields })),
}

/** Readers that never show a page are challenged only by a rule that names them, or under a disproved name. */
const ASKED_BY_NAME: ReadonlySet<string> = new Set(['feed', 'federation', 'preview'] satisfies CrawlerPurpose[])

/**
 * Reports whether a request is never challenged: its client is proven, its verification is in flight, or it is a trusted proxy of ours;
 * its address is internal; or programs fetch the file at a fixed place. `named` has the purposes and crawlers that a rule names.
 */
function isNeverAsked({ agent, client, crawler, network, request }: Inspection, named: ReadonlySet<string>): boolean {
  if (agent.identity?.verified === true || crawler?.outcome === 'verified' || crawler?.pending === true) return true
  if (client.isProxy === true || isInternal(network.reserved)) return true
  const { path, readings } = request
  // Every reading counts: a path that an origin reads as another one is no fixed place, nor is one with too many readings.
  if (isFixedPlace(path) && (readings === undefined || (readings.length > 0 && readings.every(isFixedPlace))))
    return true
  const purpose = crawler?.purpose ?? agent.purpose
  if (purpose === undefined || !ASKED_BY_NAME.has(purpose) || crawler?.outcome === 'spoofed') return false
  return !named.has(purpose) && !(crawler !== undefined && named.has(crawler.slug))
}

/** A browser's preflight has an origin and no cookies (Fetch section 4.8). */
function isPreflight(method: string, asked: Asked): boolean {
  if (method !== 'OPTIONS' || asked.has('cookie')) return false
  return asked.has('access-control-request-method') && asked.has('origin')
}
