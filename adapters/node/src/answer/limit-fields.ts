import type { Decision, LimitUse } from '@sallyport/core'
import { tightest } from '@sallyport/core/host'

/**
 * Returns the fields about the limit that a client is nearest to, where a rule throttles: `RateLimit` and `RateLimit-Policy`
 * (draft-ietf-httpapi-ratelimit-headers-10), and `Retry-After` once the limit is exceeded (RFC 9110 10.2.3). They do not name the rule. A
 * limit of failures appears only once it is exceeded: until then no client needs to wait, and an attacker who guesses learns nothing. Names
 * are in lower case.
 */
export function limitFields({ limits, enforced }: Decision): Readonly<Record<string, string>> {
  const use = limits && enforced ? tightest(limits.filter(isNamed)) : undefined
  if (use === undefined) return NONE
  const { max, used, windowMs, resetMs, exceeded } = use
  const reset = seconds(resetMs)
  const window = windowMs === undefined ? '' : `;w=${seconds(windowMs)}`
  return {
    'ratelimit-policy': `"default";q=${max}${window}`,
    ratelimit: `"default";r=${exceeded ? 0 : Math.max(0, max - used)};t=${reset}`,
    ...(exceeded ? { 'retry-after': String(reset) } : {}),
  }
}

function isNamed({ action, counts, exceeded }: LimitUse): boolean {
  return action === 'throttle' && (exceeded || counts === undefined)
}

const NONE: Readonly<Record<string, string>> = Object.freeze({})

/** Rounds up to whole seconds, so that no client comes back too soon. */
function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}
