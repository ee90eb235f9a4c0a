import { OPERATORS } from '@sallyport/data/operators'
import { REVERSE_NAME_RULES, REVERSE_NAME_WORDS, type ReverseNameRule } from '@sallyport/data/reverse-names'
import { LRUCache } from 'lru-cache'
import type { Address } from '../address/address.ts'
import { formatPrefix, hostPrefix, type Prefix, prefixOf } from '../address/prefix.ts'
import { operatorOf } from '../asn/types.ts'
import { DAY_MS } from '../duration.ts'
import { createNameTurns, type NameTurns, nameClient } from '../name-turns.ts'
import type { Clock, Dns, ObservationStore } from '../ports/index.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'

/** How long a name is believed, and how long an address is not asked again, whatever the answer was. */
const TTL_MS = 7 * DAY_MS
/** Addresses that are remembered as asked. */
const MAX_REMEMBERED = 50_000
/** Addresses in the queue; one that finds it full is asked at a later visit. */
const MAX_QUEUED = 500
const MAX_CONCURRENT = 4

/** Classes that a reverse name may change: an address in them can be an exit. So can one of a mixed host. */
const ASKED_CLASSES: readonly NetworkClass[] = ['hosting', 'datacenter', 'unknown']

/** Brands that have a network of SIM cards alone: what else they have may hold some too. */
const SIM_BRANDS: ReadonlySet<string> = new Set(
  OPERATORS.flatMap(({ type, brand }) => (type === 'mobile' && brand !== undefined ? [brand] : [])),
)
/** The addresses that a carrier gives one purpose to. */
const POOL_LENGTH = 24

/** Looks up reverse names of visitors in the background, and keeps those that say a class as observations. */
export interface ReverseNames {
  /** Queues an address that was classified; never waits and never throws. */
  offer(address: Address, finding: NetworkFinding): void
  /** Resolves when no lookup is queued or running. */
  settled(): Promise<void>
  /** Empties the queue, and resolves when the running lookups have ended. */
  close(): Promise<void>
}

export interface ReverseNamesPorts {
  readonly clock: Clock
  readonly dns: Pick<Dns, 'resolvePtr'>
  readonly store: Pick<ObservationStore, 'put'>
  /** Shared with what else looks up names; default its own. */
  readonly turns?: NameTurns | undefined
  /** Called when the store failed; the address is asked again at a later visit. */
  readonly onFault: (error: unknown) => void
}

export function createReverseNames(ports: ReverseNamesPorts): ReverseNames {
  const { clock, dns, store, turns = createNameTurns(), onFault } = ports
  let askedAt: LRUCache<string, number> | undefined
  const waiting: Waiting[] = []
  const settling: (() => void)[] = []
  let asking = 0

  async function ask({ address, prefix, finding }: Waiting): Promise<void> {
    const answer = await dns.resolvePtr(address)
    if (answer.state !== 'found') return
    for (const name of answer.names) {
      const rule = ruleOfName(name) ?? wordOfName(name, finding.verdict.classification)
      if (rule === undefined) continue
      const now = clock.now()
      const { networkClass, provider } = rule
      await store.put(networkClass === 'mobile' ? prefix : hostPrefix(address), {
        networkClass,
        provider,
        origin: 'reverse-name',
        setAt: now,
        expiresAt: now + TTL_MS,
        note: name,
      })
      return
    }
  }

  function next(): void {
    while (asking < MAX_CONCURRENT) {
      const visitor = waiting.shift()
      if (visitor === undefined) break
      asking++
      ask(visitor)
        .catch((error: unknown) => {
          askedAt?.delete(formatPrefix(visitor.prefix))
          onFault(error)
        })
        .finally(() => {
          visitor.done()
          asking--
          next()
        })
    }
    if (asking === 0) for (const resolve of settling.splice(0)) resolve()
  }

  const settled = (): Promise<void> =>
    new Promise((resolve) => {
      if (asking === 0) resolve()
      else settling.push(resolve)
    })

  return {
    settled,
    close() {
      for (const { done } of waiting.splice(0)) done()
      return settled()
    },
    offer(address, finding) {
      const prefix = askedPrefix(address, finding)
      if (prefix === undefined) return
      if (waiting.length >= MAX_QUEUED) return
      const key = formatPrefix(prefix)
      const now = clock.now()
      if (now - (askedAt?.get(key) ?? Number.NEGATIVE_INFINITY) < TTL_MS) return
      const done = turns.take(nameClient(address))
      if (done === undefined) return
      askedAt ??= new LRUCache({ max: MAX_REMEMBERED })
      askedAt.set(key, now)
      waiting.push({ address, prefix, finding, done })
      next()
    },
  }
}

/** A visitor whose name is to be asked, and what the answer may be kept for. */
interface Waiting {
  readonly address: Address
  readonly prefix: Prefix
  readonly finding: NetworkFinding
  /** Gives its client's place back. */
  done(): void
}

/** Addresses that share one question (singleflight); `undefined` where no name could change anything. */
function askedPrefix(address: Address, finding: NetworkFinding): Prefix | undefined {
  const { reserved, verdict, rule, asn, machineSigns } = finding
  if (reserved.reserved) return undefined
  if (rule === 'mixed_system' || ASKED_CLASSES.includes(verdict.classification)) return hostPrefix(address)
  const brand = asn === undefined ? undefined : operatorOf(asn)?.brand
  const isCarrier = verdict.classification === 'residential_clean' && brand !== undefined && SIM_BRANDS.has(brand)
  if (isCarrier && address.family === 4) return prefixOf(address, POOL_LENGTH)
  // A name is one sign of two: only lines with another sign are looked up, or the resolver would see most visitors.
  return machineSigns === undefined ? undefined : hostPrefix(address)
}

/**
 * The meaning of words in the labels before a domain for an address of this class, numbers at their ends left out; the
 * domain is the company's name.
 */
export function wordOfName(
  name: string,
  found: NetworkClass,
): { networkClass: NetworkClass; provider: '' } | undefined {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.').slice(0, -2)
  const words = labels.flatMap((label) => label.split(/[^a-z0-9]+/)).map(withoutNumber)
  const rule = REVERSE_NAME_WORDS.find(
    ({ over, words: of }) => over.some((weaker) => weaker === found) && words.some((word) => of.includes(word)),
  )
  return rule && { networkClass: rule.networkClass, provider: '' }
}

/** `vps12` → `vps`. No expression: who holds an address writes its name, and may write digits alone. */
function withoutNumber(word: string): string {
  let end = word.length
  while (end > 0 && DIGITS.includes(word.charAt(end - 1))) end--
  return word.slice(0, end)
}

const DIGITS = '0123456789'

/** The rule that a reverse name matches; `undefined` for nearly all names. */
export function ruleOfName(name: string): ReverseNameRule | undefined {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.')
  const domains = labels.map((_, index) => labels.slice(index).join('.'))
  return REVERSE_NAME_RULES.find(({ domain, labelStart }) => {
    if (domain !== undefined) return domains.includes(domain)
    return labelStart !== undefined && labels.some((label) => label.startsWith(labelStart))
  })
}
