import type { Dns, Whois } from '@sallyport/core'

/**
 * Wraps a WHOIS so that it answers within the caller's time. Callers share a question about one domain (singleflight), and the first caller
 * may have had more time. A question that is too late for one caller continues, and its answer is cached.
 */
export function whoisWithTimeout(whois: Whois): Whois {
  return {
    find(target, withinMs, asker) {
      const answer = whois.find(target, withinMs, asker)
      if (withinMs === undefined) return answer
      const reason = `no response within ${withinMs} ms`
      return withTimeout(answer, withinMs, () => ({ state: 'failed', domain: target.domain, reason }))
    },
  }
}

/** Wraps a DNS so that it answers within `maxMs`, whatever its own timeouts and retries add up to. */
export function dnsWithTimeout(dns: Dns, maxMs: number): Dns {
  const late = () => ({ state: 'failed', reason: 'ETIMEOUT' }) as const
  return {
    resolve: (name, family) => withTimeout(dns.resolve(name, family), maxMs, late),
    resolvePtr: (address) => withTimeout(dns.resolvePtr(address), maxMs, late),
  }
}

/** Resolves to the result, or as `late` does after `maxMs` milliseconds. */
export async function withTimeout<Result>(work: Promise<Result>, maxMs: number, late: () => Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<void>((resolve) => {
    // After a pause of the event loop, results that wait for their turn come first.
    timer = setTimeout(() => setImmediate(resolve), maxMs)
  })
  try {
    return await Promise.race([work, expired.then(late)])
  } finally {
    clearTimeout(timer)
  }
}
