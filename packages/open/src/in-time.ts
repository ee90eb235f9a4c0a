import type { Dns, Whois } from '@sallyport/core'

/**
 * The same WHOIS, but nobody waits longer than they have: many who ask for one domain at once are one question, and the
 * one who put it may have had more time. The question goes on, and its answer is kept.
 */
export function whoisInTime(whois: Whois): Whois {
  return {
    find(target, withinMs) {
      const answer = whois.find(target, withinMs)
      if (withinMs === undefined) return answer
      return inTime(answer, withinMs, {
        state: 'failed',
        domain: target.domain,
        reason: `not told within ${withinMs} ms`,
      })
    },
  }
}

/** The same DNS, whose answers are waited for no longer than `mostMs`, whatever its own patience. */
export function dnsInTime(dns: Dns, mostMs: number): Dns {
  const late = { state: 'failed', reason: 'ETIMEOUT' } as const
  return {
    resolve: (name, family) => inTime(dns.resolve(name, family), mostMs, late),
    resolvePtr: (address) => inTime(dns.resolvePtr(address), mostMs, late),
  }
}

/** The result, or `late` where it is not there by then. */
async function inTime<Result>(work: Promise<Result>, mostMs: number, late: Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<Result>((resolve) => {
    timer = setTimeout(resolve, mostMs, late)
  })
  try {
    return await Promise.race([work, expired])
  } finally {
    clearTimeout(timer)
  }
}
