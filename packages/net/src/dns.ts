import { Resolver } from 'node:dns/promises'
import { type Address, type Dns, type NameAnswer, parseAddress } from '@sallyport/core'

export interface DnsOptions {
  /** `address` or `address:port`; empty or absent: the servers of the system. */
  readonly servers?: readonly string[]
  /** How long an answer is waited for in all, in milliseconds; default 500. A lost question is put again within it. */
  readonly timeoutMs?: number
}

/** The one family asked for: its addresses (none when the name has none of this family), or why nothing is known. */
type FamilyAnswer = { readonly addresses: readonly Address[] } | { readonly failure: string }

/** Codes with which a server says that there is nothing: the name does not exist, or has no record of this type. */
const NOTHING = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Names to addresses over DNS queries alone (never the resolver of the system, which reads hosts files and takes
 * `0x7f.1` for an address). A and AAAA are asked at once. An address of either family is an answer even where the
 * other family failed; `absent` is said only when both families answered that there is nothing.
 */
export function createDns({ servers = [], timeoutMs = 500 }: DnsOptions = {}): Dns {
  // The resolver looks for late answers at intervals of its timeout only: a third leaves room for a second question.
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)

  return {
    async resolve(name) {
      // The dot at the end makes the name absolute: no search domain of the system is tried.
      const absolute = name.endsWith('.') ? name : `${name}.`
      const [ipv4, ipv6] = await Promise.all([
        answerOf(() => resolver.resolve4(absolute), timeoutMs),
        answerOf(() => resolver.resolve6(absolute), timeoutMs),
      ])
      return combine(ipv4, ipv6)
    },
  }
}

async function answerOf(ask: () => Promise<readonly string[]>, timeoutMs: number): Promise<FamilyAnswer> {
  let late: NodeJS.Timeout | undefined
  const silence = new Promise<FamilyAnswer>((resolve) => {
    late = setTimeout(resolve, timeoutMs, { failure: 'ETIMEOUT' })
  })
  const answer = await Promise.race([silence, ask().then(addressesOf, failureOf)])
  clearTimeout(late)
  return answer
}

function addressesOf(texts: readonly string[]): FamilyAnswer {
  return { addresses: texts.map((text) => parseAddress(text)).filter((address) => address !== undefined) }
}

function failureOf(error: unknown): FamilyAnswer {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return NOTHING.has(code) ? { addresses: [] } : { failure: code }
}

function combine(ipv4: FamilyAnswer, ipv6: FamilyAnswer): NameAnswer {
  const addresses = [ipv4, ipv6].flatMap((answer) => ('addresses' in answer ? answer.addresses : []))
  if (addresses.length > 0) return { state: 'found', addresses }
  if ('failure' in ipv4) return { state: 'failed', reason: ipv4.failure }
  if ('failure' in ipv6) return { state: 'failed', reason: ipv6.failure }
  return { state: 'absent' }
}
