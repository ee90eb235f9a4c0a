import { TRUSTED_PROXIES } from '@sallyport/data/trusted-proxies'
import { formatAddress } from '../address/address.ts'
import { type Prefix, parsePrefix } from '../address/prefix.ts'
import { createPrefixSet } from '../address/prefix-set.ts'
import { lazily } from '../lazily.ts'
import type { Catalogue, Crawler } from './catalogue.ts'
import type { ClaimedFrom } from './memory-checks.ts'
import {
  asnCheck,
  catalogueCheck,
  couldNotRun,
  isForeignSystem,
  rangesCheck,
  withoutRefutation,
} from './memory-checks.ts'
import { type Check, type Judgement, judge } from './outcome.ts'
import { datedRanges } from './ranges.ts'
import type { ReverseChecks } from './reverse-checks.ts'
import type { ReverseFinding } from './reverse-dns.ts'

/** The outcome of one claim. */
export interface Verification {
  readonly crawler: Crawler
  readonly judgement: Judgement
  /** True while reverse DNS is being asked: the same question a little later can have another outcome. */
  readonly pending: boolean
  /** True where a claim that nothing decided comes from a system that the operator does not send this crawler from. */
  readonly foreign?: true | undefined
  /** True where the visitor's address is not known, so that nothing could be checked. */
  readonly nowhere?: true | undefined
  /** Reverse name of the address, where one was asked for and is not a false claim. */
  readonly hostname?: string | undefined
}

/** Checks claims by what operators publish about their crawlers. */
export interface CrawlerVerifier {
  readonly catalogue: Catalogue
  /** From memory alone. DNS is asked in the background, and its answer is there the next time. */
  look(crawler: Crawler, from: ClaimedFrom): Verification
  /** Waits for DNS where nothing else decided, as long as there is patience; `asker` is the client that asks. Never rejects. */
  verify(crawler: Crawler, from: ClaimedFrom, asker?: string): Promise<Verification>
}

/** Addresses of delivery networks, which carry the requests of others. */
const listRelays = (): readonly Prefix[] =>
  TRUSTED_PROXIES.flatMap(({ prefixes }) => prefixes.map(parsePrefix)).filter(
    (prefix): prefix is Prefix => prefix !== undefined,
  )

export interface VerifierPorts {
  readonly reverse: ReverseChecks
  /** Resolves when a caller has waited long enough for DNS; absent: never. */
  readonly patience?: (() => Promise<unknown>) | undefined
}

export function createCrawlerVerifier(catalogue: Catalogue, { reverse, patience }: VerifierPorts): CrawlerVerifier {
  // No visitor but a crawler needs these.
  const relays = lazily(() => createPrefixSet(listRelays()))
  const dated = lazily(datedRanges)

  /** Why nothing can be refuted of an address; absent for one that is its visitor's own. */
  function sharedBecause({ address, finding }: ClaimedFrom): string | undefined {
    if (finding.reserved.reserved) {
      return `${formatAddress(address)} is reserved (${finding.reserved.label}): no public fact applies to it.`
    }
    return relays().has(address)
      ? `${formatAddress(address)} is a delivery network's: name it in trustProxy to see the visitor behind it.`
      : undefined
  }

  /** Marks a claim that nothing decided, where its own address tells that the operator did not send it. */
  function withOrigin(found: Verification, from: ClaimedFrom): Verification {
    const { crawler, judgement } = found
    const isOpen = judgement.outcome === 'unverifiable' && !crawler.selfHosted
    return isOpen && isForeignSystem(crawler, from) && sharedBecause(from) === undefined
      ? { ...found, foreign: true }
      : found
  }

  /** The outcome from memory, or the checks so far where DNS has to be asked. */
  function fromMemory(crawler: Crawler, from: ClaimedFrom): Verification | readonly Check[] {
    const shared = sharedBecause(from)
    const excused = shared ?? customersBecause(crawler)
    const all = [catalogueCheck(crawler), rangesCheck(crawler, from, dated()), asnCheck(crawler, from)]
    const checks = excused === undefined ? all : all.map((check) => withoutRefutation(check, excused))
    const needless = dnsNeedless(crawler, checks, shared)
    if (needless !== undefined) return concluded(crawler, [...checks, needless])
    const known = reverse.known(from.address, crawler.names)
    return known === undefined ? checks : withReverse(crawler, checks, known)
  }

  return {
    catalogue,
    look(crawler, from) {
      const found = fromMemory(crawler, from)
      if ('judgement' in found) return withOrigin(found, from)
      const pending = reverse.start(from.address, crawler.names)
      return withOrigin({ ...withReverse(crawler, found, pending ? BEING_ASKED : TOO_MANY), pending }, from)
    },
    async verify(crawler, from, asker) {
      const found = fromMemory(crawler, from)
      if ('judgement' in found) return withOrigin(found, from)
      const asked = reverse.ask(from.address, crawler.names, asker)
      if (asked === undefined) return withOrigin(withReverse(crawler, found, TOO_MANY), from)
      const late = patience === undefined ? [] : [patience().then(() => TOO_LATE)]
      return withOrigin(withReverse(crawler, found, (await Promise.race([asked, ...late])) ?? TOO_MANY), from)
    },
  }
}

const BEING_ASKED = notAnswered('The reverse name is being looked up.')
const TOO_MANY = notAnswered('Too many checks wait for DNS already.')
const TOO_LATE = notAnswered('The reverse name was not answered in time.')

function notAnswered(detail: string): ReverseFinding {
  return Object.freeze({ status: 'could-not-run', detail })
}

/** The verification of a request whose address is not known: only whether the crawler sends requests at all. */
export function withoutAddress(crawler: Crawler): Verification {
  return { ...concluded(crawler, [catalogueCheck(crawler)]), nowhere: true }
}

function concluded(crawler: Crawler, checks: readonly Check[]): Verification {
  return { crawler, judgement: judge(checks), pending: false }
}

/** The reverse-DNS check where asking is not needed or cannot be; absent where DNS has to be asked. */
function dnsNeedless(crawler: Crawler, checks: readonly Check[], shared: string | undefined): Check | undefined {
  const name = 'reverse DNS'
  if (crawler.silent !== undefined) {
    return { name, status: 'not-applicable', detail: `${crawler.name} has no addresses.` }
  }
  if (crawler.names.length === 0) {
    return { name, status: 'not-applicable', detail: `No reverse name of ${crawler.name} is known.` }
  }
  const decided = checks.find(({ status }) => status === 'passed')
  if (decided !== undefined) {
    return { name, status: 'not-applicable', detail: `Not asked: the ${decided.name} confirmed it already.` }
  }
  return shared === undefined ? undefined : couldNotRun(name, shared)
}

/** Why no address refutes the crawler; absent for one that the operator alone runs. */
function customersBecause({ name, operator, selfHosted }: Crawler): string | undefined {
  return selfHosted ? `Customers of ${operator} run ${name} on machines of their own too.` : undefined
}

function withReverse(crawler: Crawler, checks: readonly Check[], found: ReverseFinding): Verification {
  const { status, detail, hostname } = found
  const excuse =
    customersBecause(crawler) ?? (crawler.namesRefute ? undefined : `But ${crawler.operator} promises no such name.`)
  const hearsay = status === 'refuted' && excuse !== undefined
  const check: Check = hearsay
    ? couldNotRun('reverse DNS', `${detail} ${excuse}`)
    : { name: 'reverse DNS', status, detail }
  return { ...concluded(crawler, [...checks, check]), ...(hostname !== undefined && { hostname }) }
}
