import type { Dns, Whois } from '@sallyport/core'

/**
 * A WHOIS that answers within the caller's own time. Callers who ask for one domain at once may share a question (singleflight), and
 * the one who asked first may have had more time. A question that is too late for one caller goes on, and its answer is kept.
 */
export function whoisWithTimeout(whois: Whois): Whois {
  return {
    find(target, withinMs, asker) {
      const answer = whois.find(target, withinMs, asker)
      if (withinMs === undefined) return answer
      return withTimeout(answer, withinMs, {
        state: 'failed',
        domain: target.domain,
        reason: `no answer within ${withinMs} ms`,
      })
    },
  }
}

/** A DNS that answers within `maxMs`, whatever its own time-outs and retries come to. */
export function dnsWithTimeout(dns: Dns, maxMs: number): Dns {
  const late = { state: 'failed', reason: 'ETIMEOUT' } as const
  return {
    resolve: (name, family) => withTimeout(dns.resolve(name, family), maxMs, late),
    resolvePtr: (address) => withTimeout(dns.resolvePtr(address), maxMs, late),
  }
}

/** The result, or `late` after `maxMs` milliseconds. */
async function withTimeout<Result>(work: Promise<Result>, maxMs: number, late: Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<Result>((resolve) => {
    timer = setTimeout(resolve, maxMs, late)
  })
  try {
    return await Promise.race([work, expired])
  } finally {
    clearTimeout(timer)
  }
}
