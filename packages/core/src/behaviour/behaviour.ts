import { LRUCache } from 'lru-cache'
import { findField } from '../address/forwarding.ts'
import { listSigns } from '../agent/behaviour-signs.ts'
import { clientKey } from '../counting/keys.ts'
import { HOUR_MS } from '../duration.ts'
import { hashText } from '../hash-text.ts'
import { isInternal } from '../network/inside.ts'
import type { AgentBasis, AgentVerdict } from '../values/agent-verdict.ts'
import type { InspectedBehaviour } from '../values/behaviour.ts'
import type { InspectedClient, Inspection } from '../values/inspection.ts'
import type { ObservedRequest } from '../values/observed.ts'
import type { InspectionRequest } from '../values/request.ts'
import { createNorms, HABIT, type HabitState, type KeptHabits, listHabits } from './norms.ts'
import { recordEvent, type VisitEvent } from './record-event.ts'
import { CELL, FLAG, Records, WORD } from './records.ts'
import { countPages, LACKS, nameGroup, readBare, readHabits, readLacks, readSigns } from './signs.ts'

/** Holds the signs of a visit as bits, and all that rules read of it. */
export interface BehaviourFinding {
  readonly bits: number
  readonly inspected: InspectedBehaviour
}

export interface BehaviourOptions {
  /** Returns the secret of the visit keys; without it no client can compute a key. A new secret ends all visits. */
  readonly seed: () => number
  /** Holds what people did before this run. */
  readonly kept?: readonly KeptHabits[] | undefined
  /** Limits how many visits are remembered, a multiple of eight; default `SLOTS`. */
  readonly slots?: number | undefined
}

/** Finds the site of a host by name; without it there is one site, whose name is ''. */
export type SiteFinder = (host: string) => string

/** Holds what is known of a visitor: its agent, its client, its pass, and its user agent where that was read before. */
export interface KnownVisitor extends Pick<Inspection, 'agent' | 'client' | 'pass'> {
  readonly userAgent?: string | undefined
}

export type Behaviour = ReturnType<typeof createBehaviour>

/** Clients that name or prove what they are teach nothing by their behaviour. */
const NAMED: ReadonlySet<AgentBasis> = new Set<AgentBasis>(['signature', 'crawler', 'ai-name', 'automation'])
/** Limits how many groups are remembered to have a person in them. */
const MAX_MIXED = 4_096
/** A visit of this many pages proves what people do. */
const PROOF_PAGES = 8

/** Remembers what visitors do, in this process. It does no I/O and forgets each visit that ends. */
export function createBehaviour({ seed, kept, slots }: BehaviourOptions) {
  const norms = createNorms(kept)
  const records = new Records(slots)
  /** A visitor of the group held a pass at this time. */
  const mixed = new LRUCache<number, number>({ max: MAX_MIXED })
  const findKey = createVisitKeys(seed)
  const listIds = createIdLists()

  function take(event: VisitEvent): void {
    const row = recordEvent(records, event)
    if (event.traits.kind !== 'page') return
    // A visitor who lacks nothing belongs to no group.
    const group = nameGroup(records, row, readLacks(records, row, readBare(records, row, event.until)))
    if (event.hasPass && group !== 0) mixed.set(group, event.until)
    if (records.get(row, CELL.pages) < PROOF_PAGES || records.has(row, FLAG.judged)) return
    const isBrowser = records.has(row, FLAG.returned) && records.get(row, CELL.files) > 0
    if (!isBrowser && !records.has(row, FLAG.proven)) return
    records.flag(row, FLAG.judged)
    norms.learn(event.site, readHabits(records, row), group)
  }

  return {
    /** Returns what a visitor whose behaviour counts has done so far; `undefined` where nothing is known of it. */
    find(
      { fields, user }: Pick<InspectionRequest, 'fields' | 'user'>,
      known: KnownVisitor,
      now: number,
      findSite?: SiteFinder,
    ): BehaviourFinding | undefined {
      if (namesItself(known.agent)) return undefined
      const site = findSite?.(findField(fields, ':authority') || (findField(fields, 'host') ?? '')) ?? ''
      const userAgent = known.userAgent ?? findField(fields, 'user-agent') ?? ''
      const row = records.find(findKey(known.client, user, userAgent, site), now)
      const pages = row === -1 ? 0 : records.get(row, CELL.pages)
      // A client that found no page may have requested many.
      if (row === -1 || (pages === 0 && records.word(row, WORD.missing) === 0)) return undefined
      const habits = norms.find(site)
      const bare = readBare(records, row, now)
      const bits = readSigns(records, row, bare, habits)
      const [isLoading, isReturning] = [(habits & HABIT['keeps-loading']) !== 0, (habits & HABIT.returns) !== 0]
      const lacks = known.pass === undefined ? readLacks(records, row, bare) : 0
      const isGrouped = ((lacks & LACKS.files) !== 0 && isLoading) || ((lacks & LACKS.cookies) !== 0 && isReturning)
      const group = isGrouped ? nameGroup(records, row, lacks) : 0
      const inspected: InspectedBehaviour = {
        pages,
        signs: listIds(bits),
        pagesWithoutFiles: isLoading ? bare : 0,
        cookiesNotReturned: isReturning && !records.has(row, FLAG.returned) ? records.get(row, CELL.unreturned) : 0,
        differentPages: Math.round(countPages(records, row)),
        likeness: group === 0 ? undefined : group.toString(16).padStart(8, '0'),
        isMixed:
          group !== 0 && Math.abs(now - (mixed.get(group) ?? Number.NEGATIVE_INFINITY)) < HOUR_MS ? true : undefined,
      }
      return { bits, inspected }
    },
    /** Counts a finished request; returns the event that other workers count, `undefined` where the request counts in no visit. */
    record(
      { traits, decision, host, userAgent = '', at, milliseconds }: ObservedRequest,
      findSite?: SiteFinder,
    ): VisitEvent | undefined {
      if (traits === undefined || decision === undefined) return undefined
      const { agent, client, network, user, pass } = decision.inspection
      if (!hasBehaviour({ client, network }) || namesItself(agent)) return undefined
      const site = findSite?.(host) ?? ''
      const key = findKey(client, user, userAgent, site)
      const [hasPass, hasUser] = [pass !== undefined, user !== undefined]
      const event = { key, site, from: at, until: at + Math.floor(milliseconds), hasPass, hasUser, traits }
      take(event)
      return event
    },
    /** Counts a request that another worker answered. */
    take,
    /** Lists what people do on each site, and which habits are a sign by their absence. */
    get habits(): readonly HabitState[] {
      return listHabits(norms.kept)
    },
    /** Lists what is kept between two runs. */
    get kept(): readonly KeptHabits[] {
      return norms.kept
    },
    /** Counts the visits that have not ended. */
    size: (now: number) => records.size(now),
  }
}

/** Lists the ids of the signs against a person; each list is made once. */
function createIdLists(): (bits: number) => readonly string[] {
  const kept = new Map<number, readonly string[]>()
  return (bits) => {
    let ids = kept.get(bits)
    if (ids === undefined) {
      ids = Object.freeze(listSigns(bits).flatMap(({ id, weight }) => (weight > 0 ? [id] : [])))
      kept.set(bits, ids)
    }
    return ids
  }
}

/** Reports whether a client's behaviour counts: the operator's machines, and a proxy that asks for itself, have no behaviour. */
export function hasBehaviour({ client, network }: Pick<Inspection, 'client' | 'network'>): boolean {
  return client.address !== '' && client.isProxy !== true && !isInternal(network.reserved)
}

/** Reports whether an agent is allowlisted, or names or proves what it is. */
function namesItself({ identity, basis }: AgentVerdict): boolean {
  return identity?.verified === true || NAMED.has(basis)
}

/** Keeps the key of a client's last visit and its inputs. */
interface KeptKey {
  readonly key: number
  readonly userAgent: string
  readonly site: string
  readonly seed: number
}

/** An observed request keeps no more characters of a user agent. */
const MAX_USER_AGENT = 400

/** Makes keys of visits. The key of a client's last visit is kept for as long as its visitor is remembered. */
function createVisitKeys(readSeed: () => number) {
  const kept = new WeakMap<InspectedClient, KeptKey>()

  return (client: InspectedClient, user: string | undefined, userAgent: string, site: string): number => {
    const seed = readSeed()
    if (user !== undefined) return makeKey(seed, `user ${site} ${user}`)
    const known = kept.get(client)
    if (known !== undefined && known.userAgent === userAgent && known.site === site && known.seed === seed)
      return known.key
    const agent = hashText(userAgent.slice(0, MAX_USER_AGENT), seed)
    const key = makeKey(agent, `${clientKey(client.address).narrow} ${site}`)
    kept.set(client, { key, userAgent, site, seed })
    return key
  }
}

/** Makes a whole number of 53 bits from two hashes that begin with different secrets. */
function makeKey(seed: number, text: string): number {
  const [low, high] = [hashText(text, seed), hashText(text, ~seed)]
  return ((low ^ (low >>> 15)) >>> 0) + (high >>> 11) * 2 ** 32
}
