import { TRUSTED_PROXIES } from '@sallyport/data/trusted-proxies'
import { formatAddress } from '../address/address.ts'
import { parsePrefix } from '../address/prefix.ts'
import { createPrefixSet } from '../address/prefix-set.ts'
import { lazily } from '../lazily.ts'
import type { Catalogue, Crawler } from './catalogue.ts'
import type { ClaimedFrom } from './memory-checks.ts'
import { asnCheck, catalogueCheck, isForeignSystem, rangesCheck, withoutRefutation } from './memory-checks.ts'
import { type Check, type Judgement, judge, makeCheck } from './outcome.ts'
import { datedRanges } from './ranges.ts'
import type { ReverseChecks } from './reverse-checks.ts'
import type { ReverseFinding } from './reverse-dns.ts'

/** Holds the outcome of one claim. */
export interface Verification {
  readonly crawler: Crawler
  readonly judgement: Judgement
  /** True while reverse DNS is being asked: the same claim can have another outcome a little later. */
  readonly pending: boolean
  /** True where an undecided claim comes from a system that the operator does not send this crawler from. */
  readonly foreign?: true | undefined
  /** True where the visitor's address is not known, so nothing could be checked. */
  readonly nowhere?: true | undefined
  /** Reverse name of the address, where it was requested and is not a false claim. */
  readonly hostname?: string | undefined
}

export type CrawlerVerifier = ReturnType<typeof createCrawlerVerifier>

export interface VerifierPorts {
  readonly reverse: ReverseChecks
  /** Resolves when a caller has waited long enough for DNS; by default never. */
  readonly patience?: (() => Promise<unknown>) | undefined
}

/** Checks claims by what operators publish about their crawlers. */
export function createCrawlerVerifier(catalogue: Catalogue, { reverse, patience }: VerifierPorts) {
  // Only requests of crawlers need these. Delivery networks relay the requests of others.
  const relays = lazily(() =>
    createPrefixSet(TRUSTED_PROXIES.flatMap(({ prefixes }) => prefixes.flatMap((text) => parsePrefix(text) ?? []))),
  )
  const dated = lazily(datedRanges)

  /** Says why no check refutes an address; absent for an address of the visitor's own. */
  function sharedBecause({ address, finding }: ClaimedFrom): string | undefined {
    if (finding.reserved.reserved) {
      return `${formatAddress(address)} is reserved (${finding.reserved.label}): no public fact applies to it.`
    }
    return relays().has(address)
      ? `${formatAddress(address)} belongs to a delivery network. Add it to trustProxy to see the visitor's address.`
      : undefined
  }

  /** Marks a claim that nothing decided, where its own address shows that the operator did not send it. */
  function withOrigin(found: Verification, from: ClaimedFrom): Verification {
    const { crawler, judgement } = found
    const isOpen = judgement.outcome === 'unverifiable' && !crawler.selfHosted
    return isOpen && isForeignSystem(crawler, from) && sharedBecause(from) === undefined
      ? { ...found, foreign: true }
      : found
  }

  /** Judges a claim from memory, or returns the checks so far where DNS must be asked. */
  function fromMemory(crawler: Crawler, from: ClaimedFrom): Verification | readonly Check[] {
    const shared = sharedBecause(from)
    const excused = shared ?? customersBecause(crawler)
    const all = [catalogueCheck(crawler), rangesCheck(crawler, from, dated()), asnCheck(crawler, from)]
    const checks = excused === undefined ? all : all.map((check) => withoutRefutation(check, excused))
    const needless = dnsNeedless(crawler, checks, shared)
    if (needless !== undefined) return concludeChecks(crawler, [...checks, needless])
    const known = reverse.known(from.address, crawler.names)
    return known === undefined ? checks : withReverse(crawler, checks, known)
  }

  return {
    catalogue,
    /** Answers from memory alone. DNS is asked in the background, and its answer serves the next request. */
    look(crawler: Crawler, from: ClaimedFrom): Verification {
      const found = fromMemory(crawler, from)
      if ('judgement' in found) return withOrigin(found, from)
      const pending = reverse.start(from.address, crawler.names)
      return withOrigin({ ...withReverse(crawler, found, pending ? BEING_ASKED : TOO_MANY), pending }, from)
    },
    /** Waits for DNS where nothing else decided, up to `patience`; `asker` is the requesting client. Never rejects. */
    async verify(crawler: Crawler, from: ClaimedFrom, asker?: string): Promise<Verification> {
      const found = fromMemory(crawler, from)
      if ('judgement' in found) return withOrigin(found, from)
      const answer = reverse.ask(from.address, crawler.names, asker)
      if (answer === undefined) return withOrigin(withReverse(crawler, found, TOO_MANY), from)
      const late = patience === undefined ? [] : [patience().then(() => TOO_LATE)]
      return withOrigin(withReverse(crawler, found, (await Promise.race([answer, ...late])) ?? TOO_MANY), from)
    },
  }
}

const BEING_ASKED = makeUnanswered('The reverse name is being looked up.')
const TOO_MANY = makeUnanswered('Too many checks are already waiting for DNS.')
const TOO_LATE = makeUnanswered('DNS did not return the reverse name in time.')

function makeUnanswered(detail: string): ReverseFinding {
  return Object.freeze({ status: 'could-not-run', detail })
}

/** Verifies a request whose address is not known: the catalogue alone says whether the crawler sends requests. */
export function withoutAddress(crawler: Crawler): Verification {
  return { ...concludeChecks(crawler, [catalogueCheck(crawler)]), nowhere: true }
}

function concludeChecks(crawler: Crawler, checks: readonly Check[]): Verification {
  return { crawler, judgement: judge(checks), pending: false }
}

/** Returns the reverse-DNS check where asking is unnecessary or impossible; absent where DNS must be asked. */
function dnsNeedless(crawler: Crawler, checks: readonly Check[], shared: string | undefined): Check | undefined {
  const name = 'reverse DNS'
  const decided = checks.find(({ status }) => status === 'passed')
  const needless =
    crawler.silent !== undefined
      ? `${crawler.name} has no addresses.`
      : crawler.names.length === 0
        ? `No reverse name of ${crawler.name} is known.`
        : decided && `The ${decided.name} already confirmed the claim.`
  if (needless !== undefined) return makeCheck(name, 'not-applicable', needless)
  return shared === undefined ? undefined : makeCheck(name, 'could-not-run', shared)
}

/** Says why no address refutes the crawler; absent for one that only the operator runs. */
function customersBecause({ name, operator, selfHosted }: Crawler): string | undefined {
  return selfHosted ? `Customers of ${operator} also run ${name} on their own machines.` : undefined
}

function withReverse(crawler: Crawler, checks: readonly Check[], found: ReverseFinding): Verification {
  const { status, detail, hostname } = found
  const excuse =
    customersBecause(crawler) ?? (crawler.namesRefute ? undefined : `${crawler.operator} promises no such name.`)
  const hearsay = status === 'refuted' && excuse !== undefined
  const check: Check = hearsay
    ? makeCheck('reverse DNS', 'could-not-run', `${detail} ${excuse}`)
    : { name: 'reverse DNS', status, detail }
  return { ...concludeChecks(crawler, [...checks, check]), ...(hostname !== undefined && { hostname }) }
}
