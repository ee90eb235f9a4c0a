import { Resolver } from 'node:dns/promises'
import { type Address, type Dns, errorCode, type NameAnswer, parseAddress, type ReverseAnswer } from '@sallyport/core'

export interface DnsOptions {
  /** Each is `address` or `address:port`; if empty or absent, the machine's servers are used. */
  readonly servers?: readonly string[] | undefined
  /** How long all tries may take together, in milliseconds; default 500. A lost question is repeated within this time. */
  readonly timeoutMs?: number | undefined
  /** How often a question is sent at most; default 2. */
  readonly tries?: number | undefined
}

/** Holds the records of one type as text (none if the name has none of this type), or why nothing is known. */
type RecordsAnswer = { readonly records: readonly string[] } | { readonly failure: string }

/** Codes of an answer which says that the name does not exist, or has no record of this type. */
const NOTHING = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Resolves names over DNS queries alone (never the machine's resolver, which reads hosts files and takes `0x7f.1` for an address). A and
 * AAAA are queried at once. An address of either family is an answer even if the other family failed; `absent` means that both families
 * have no record.
 */
export function createDns({ servers = [], timeoutMs = 500, tries = 2 }: DnsOptions = {}): Dns {
  // The resolver checks for late answers once per timeout; with a fraction of our timeout, every try fits in.
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / (tries === 1 ? 1 : tries + 1)), tries })
  if (servers.length > 0) resolver.setServers(servers)

  return {
    async resolve(name, family) {
      // The dot at the end makes the name absolute: no search domain of the machine is tried.
      const absolute = name.endsWith('.') ? name : `${name}.`
      const questions: Promise<RecordsAnswer>[] = []
      if (family !== 6) questions.push(awaitAnswer(() => resolver.resolve4(absolute), timeoutMs))
      if (family !== 4) questions.push(awaitAnswer(() => resolver.resolve6(absolute), timeoutMs))
      return combine(await Promise.all(questions))
    },
    async resolvePtr(address) {
      // Never `reverse`: it reports ENOTFOUND for a timeout and a refusal too, and an outage would look like a false claim.
      const answer = await awaitAnswer(() => resolver.resolvePtr(`${reverseZoneName(address)}.`), timeoutMs)
      return namesIn(answer)
    },
    async resolveMx(name) {
      const servers = async () => (await resolver.resolveMx(`${name}.`)).map(({ exchange }) => exchange)
      return namesIn(await awaitAnswer(servers, timeoutMs))
    },
  }
}

async function awaitAnswer(ask: () => Promise<readonly string[]>, timeoutMs: number): Promise<RecordsAnswer> {
  let late: NodeJS.Timeout | undefined
  const silence = new Promise<RecordsAnswer>((resolve) => {
    late = setTimeout(resolve, timeoutMs, { failure: 'ETIMEOUT' })
  })
  const answer = await Promise.race([silence, ask().then((records) => ({ records }), describeFailure)])
  clearTimeout(late)
  return answer
}

function describeFailure(error: unknown): RecordsAnswer {
  const code = errorCode(error)
  return NOTHING.has(code) ? { records: [] } : { failure: code }
}

/** Returns the addresses of both families, or of the queried family. */
function combine(answers: readonly RecordsAnswer[]): NameAnswer {
  const texts = answers.flatMap((answer) => ('records' in answer ? answer.records : []))
  const addresses = texts.map((text) => parseAddress(text)).filter((address) => address !== undefined)
  if (addresses.length > 0) return { state: 'found', addresses }
  for (const answer of answers) if ('failure' in answer) return { state: 'failed', reason: answer.failure }
  return { state: 'absent' }
}

function namesIn(answer: RecordsAnswer): ReverseAnswer {
  if ('failure' in answer) return { state: 'failed', reason: answer.failure }
  return answer.records.length === 0 ? { state: 'absent' } : { state: 'found', names: answer.records }
}

/** Returns the name of an address in the reverse zones (RFC 1035 section 3.5, RFC 3596 section 2.5). */
function reverseZoneName({ family, a, b, c, d }: Address): string {
  const labels =
    family === 4
      ? [d >>> 24, (d >>> 16) & 255, (d >>> 8) & 255, d & 255]
      : [a, b, c, d].flatMap((word) => [...(word >>> 0).toString(16).padStart(8, '0')])
  return `${labels.toReversed().join('.')}.${family === 4 ? 'in-addr' : 'ip6'}.arpa`
}
