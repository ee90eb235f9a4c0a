import { OPERATORS } from '@sallyport/data/operators'
import { REVERSE_NAME_RULES, REVERSE_NAME_WORDS, type ReverseNameRule } from '@sallyport/data/reverse-names'
import { LRUCache } from 'lru-cache'
import type { Address } from '../address/address.ts'
import { formatPrefix, hostPrefix, makePrefix, type Prefix } from '../address/prefix.ts'
import { findOperator, hasLinesAndSims } from '../asn/types.ts'
import { DAY_MS } from '../duration.ts'
import { createNameTurns, type NameTurns, nameClient } from '../name-turns.ts'
import { createPlaces } from '../places.ts'
import type { Clock, Dns, ObservationStore } from '../ports/index.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'

/** A name counts for this time, and an address is not looked up again within it, whatever the answer was. */
const TTL_MS = 7 * DAY_MS
/** Limits how many looked-up addresses are remembered. */
const MAX_REMEMBERED = 50_000
/** Limits the addresses of the queue; an address that finds it full is looked up at a later visit. */
const MAX_QUEUED = 500
const MAX_CONCURRENT = 4

/** A reverse name may change these classes: their addresses can be exits. So can an address of a mixed host. */
const ASKED_CLASSES: readonly NetworkClass[] = ['hosting', 'datacenter', 'unknown']

/** These brands have a network of SIM cards alone, so their other networks may hold some too. */
const SIM_BRANDS: ReadonlySet<string> = new Set(
  OPERATORS.flatMap(({ type, brand }) => (type === 'mobile' && brand !== undefined ? [brand] : [])),
)
/** A carrier gives a prefix of this length one purpose. */
const POOL_LENGTH = 24

export interface ReverseNamesPorts {
  readonly clock: Clock
  readonly dns: Pick<Dns, 'resolvePtr'>
  readonly store: Pick<ObservationStore, 'put'>
  /** Other lookups of names may share these turns; default its own. */
  readonly turns?: NameTurns | undefined
  /** Called when the store failed; the address is looked up again at a later visit. */
  readonly onFault: (error: unknown) => void
}

/** Looks up reverse names of visitors in the background, and keeps names that show a class as observations. */
export function createReverseNames(ports: ReverseNamesPorts) {
  const { clock, dns, store, turns = createNameTurns(), onFault } = ports
  const places = createPlaces(MAX_CONCURRENT)
  let askedAt: LRUCache<string, number> | undefined
  /** Holds the lookups that are queued or running. */
  const lookups = new Set<Promise<void>>()
  /** A call of `close` ends the round: lookups of an earlier round that have not begun are dropped. */
  let round = 0

  async function ask(address: Address, prefix: Prefix, { verdict }: NetworkFinding): Promise<void> {
    const answer = await dns.resolvePtr(address)
    if (answer.state !== 'found') return
    for (const name of answer.names) {
      const rule = findReverseRule(name) ?? findReverseWord(name, verdict.classification)
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

  /** Resolves when no lookup is queued or running. */
  async function settled(): Promise<void> {
    while (lookups.size > 0) await Promise.all(lookups)
  }

  return {
    settled,
    /** Empties the queue, and resolves when the running lookups have ended. */
    close(): Promise<void> {
      round++
      return settled()
    },
    /** Queues an address that was classified; never waits and never throws. */
    offer(address: Address, finding: NetworkFinding): void {
      const prefix = askedPrefix(address, finding)
      if (prefix === undefined || places.waiting >= MAX_QUEUED) return
      const key = formatPrefix(prefix)
      const now = clock.now()
      if (now - (askedAt?.get(key) ?? Number.NEGATIVE_INFINITY) < TTL_MS) return
      const done = turns.take(nameClient(address))
      if (done === undefined) return
      askedAt ??= new LRUCache({ max: MAX_REMEMBERED })
      askedAt.set(key, now)
      const begun = round
      const lookup = places
        .run(async () => (begun === round ? ask(address, prefix, finding) : undefined))
        .catch((error: unknown) => {
          askedAt?.delete(key)
          onFault(error)
        })
        .finally(() => {
          done()
          lookups.delete(lookup)
        })
      lookups.add(lookup)
    },
  }
}

/** Returns the addresses that share one lookup (singleflight); `undefined` where no name could change anything. */
function askedPrefix(address: Address, finding: NetworkFinding): Prefix | undefined {
  const { reserved, verdict, rule, asn, machineSigns } = finding
  if (reserved.reserved) return undefined
  if (rule === 'mixed_system' || ASKED_CLASSES.includes(verdict.classification)) return hostPrefix(address)
  const isCarrier = verdict.classification === 'residential_clean' && asn !== undefined && hasSims(asn)
  if (isCarrier && address.family === 4) return makePrefix(address, POOL_LENGTH)
  // A name is one sign of two: only lines with another sign are looked up, or the resolver would see most visitors.
  return machineSigns === undefined ? undefined : hostPrefix(address)
}

function hasSims(asn: number): boolean {
  return hasLinesAndSims(asn) || SIM_BRANDS.has(findOperator(asn)?.brand ?? '')
}

/**
 * Returns the class that words in the labels before a domain show, for an address of this class. Numbers at the ends of words are left out,
 * and the domain is the company's name.
 */
export function findReverseWord(
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

/** Turns `vps12` into `vps`. It uses no expression: the holder of an address writes its name, and may write only digits. */
function withoutNumber(word: string): string {
  let end = word.length
  while (end > 0 && DIGITS.includes(word.charAt(end - 1))) end--
  return word.slice(0, end)
}

const DIGITS = '0123456789'

/** Returns the rule that a reverse name matches; `undefined` for nearly all names. */
export function findReverseRule(name: string): ReverseNameRule | undefined {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.')
  const domains = labels.map((_, index) => labels.slice(index).join('.'))
  return REVERSE_NAME_RULES.find(({ domain, labelStart }) => {
    if (domain !== undefined) return domains.includes(domain)
    return labelStart !== undefined && labels.some((label) => label.startsWith(labelStart))
  })
}
