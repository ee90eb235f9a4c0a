import { LRUCache } from 'lru-cache'
import { attempt } from '../../attempt.ts'
import { DAY_MS, HOUR_MS } from '../../duration.ts'
import { isRecord } from '../../is-record.ts'
import { fetchBytes } from '../../outbound/read-body.ts'
import { parseUrl } from '../../parse-url.ts'
import type { Clock, Fetch } from '../../ports/index.ts'
import { type AgentKey, readKey, TEST_KEY_IDS } from './key.ts'
import type { KeySource } from './key-source.ts'
import { type AnsweredDirectory, keysShown } from './signed-directory.ts'

/** These values bound one fetch. */
const FETCH_BYTES = 64 * 1024
export const FETCH_MS = 2000
/** A host receives at most one request in this time, whatever its visitors send. */
export const HOST_INTERVAL_MS = 5 * 60_000
/** Plain http has a shorter interval, because only test servers use it. */
const TEST_INTERVAL_MS = 500
/** Keys are requested again after their `max-age`, within these bounds; without a `max-age` after an hour. */
const SHORTEST_AGE_MS = HOST_INTERVAL_MS
const USUAL_AGE_MS = HOUR_MS
const LONGEST_AGE_MS = DAY_MS
/** Keys are used for this time after their directory became unreachable, so that a withdrawn key does not live on. */
export const LONGEST_UNREACHED_MS = 7 * DAY_MS
export const MAX_KEYS = 32
const MAX_DIRECTORIES = 1000
const MAX_HOSTS = 5000
const MAX_UNDER_WAY = 16
/** Limits the fetches among them that go to places that visitors named. */
const MAX_STRANGERS_UNDER_WAY = 12

export type KeyLookup =
  | { readonly state: 'found'; readonly key: AgentKey }
  /** The directory was read and does not hold the key. */
  | { readonly state: 'absent' }
  /** The directory was not read: nothing may be concluded. */
  | { readonly state: 'unknown' }

export type KeyDirectories = ReturnType<typeof createKeyDirectories>

export interface KeyDirectoriesOptions {
  readonly clock: Clock
  /** Without a fetcher nothing is ever fetched. */
  readonly outbound?: Fetch | undefined
  /** Accepts the keys that RFC 9421 prints. */
  readonly testKeys?: boolean | undefined
}

interface Answered extends AnsweredDirectory {
  readonly document: unknown
  readonly age: number
}

interface Directory {
  readonly keys: ReadonlyMap<string, AgentKey>
  readonly readAt: number
  readonly freshUntil: number
}

/** Keeps keys of agents by the place of their publication and their thumbprint, never by the thumbprint alone. */
export function createKeyDirectories(options: KeyDirectoriesOptions) {
  const { clock, outbound, testKeys = false } = options
  /** Places that visitors name have a memory of their own: a thousand of them evict no known agent's keys. */
  const [ofKnown, ofStrangers] = [createMemory(), createMemory()]
  const chooseMemory = ({ stranger }: KeySource) => (stranger ? ofStrangers : ofKnown)
  const simulated = new Map<string, readonly AgentKey[]>()
  const underWay = new Map<string, Promise<void>>()

  const isAccepted = ({ id }: AgentKey): boolean => testKeys || !TEST_KEY_IDS.includes(id)

  function keep(source: KeySource, keys: readonly AgentKey[], age: number): void {
    const readAt = clock.now()
    const known = new Map(keys.filter(isAccepted).map((key) => [key.id, key]))
    chooseMemory(source).directories.set(source.url, { keys: known, readAt, freshUntil: readAt + age })
  }

  /** Fetches once at a time per host, and again only after its interval: a flood of claims costs one request. */
  function fetchInBackground(source: KeySource): void {
    const { host, protocol } = new URL(source.url)
    const { nextByHost } = chooseMemory(source)
    const most = source.stranger ? MAX_STRANGERS_UNDER_WAY : MAX_UNDER_WAY
    if (outbound === undefined || underWay.has(host) || underWay.size >= most) return
    if (clock.now() < (nextByHost.get(host) ?? 0)) return
    nextByHost.set(host, clock.now() + (protocol === 'http:' ? TEST_INTERVAL_MS : HOST_INTERVAL_MS))
    const work = readSource(source, outbound).finally(() => underWay.delete(host))
    underWay.set(host, work)
  }

  async function readSource(source: KeySource, from: Fetch): Promise<void> {
    const answer = await getJson(source.url, from)
    // A failed fetch changes nothing: the known keys stay.
    if (answer === undefined) return
    if (source.form === 'keys') return keepDocument(source, answer.document, answer)
    const card = readCard(answer.document, source)
    if (card === undefined) return
    if ('keys' in card) return keepDocument(source, card.keys, answer)
    const keys = await getJson(card.url, from)
    if (keys !== undefined) keepDocument(source, keys.document, keys)
  }

  function keepDocument(source: KeySource, document: unknown, answer: Answered | undefined): void {
    const keys = readKeys(document)
    if (keys === undefined) return
    const shown = answer === undefined ? keys : keysShown(keys, answer, clock.now())
    // No key of the directory made the signatures, so the answer is not the directory's and changes nothing.
    if (keys.length > 0 && shown.length === 0) return
    keep(source, shown, answer?.age ?? USUAL_AGE_MS)
  }

  return {
    /** Answers from memory. If `fetch` is true, it fetches missing or old keys in the background. */
    find(source: KeySource, keyId: string, fetch: boolean): KeyLookup {
      const own = simulated.get(source.url)?.find(({ id }) => id === keyId)
      if (own !== undefined) return { state: 'found', key: own }
      const now = clock.now()
      const directory = chooseMemory(source).directories.get(source.url)
      const current = directory !== undefined && now < directory.readAt + LONGEST_UNREACHED_MS ? directory : undefined
      const key = current?.keys.get(keyId)
      if (fetch && (key === undefined || current === undefined || now >= current.freshUntil)) fetchInBackground(source)
      if (current === undefined) return { state: 'unknown' }
      return key === undefined ? { state: 'absent' } : { state: 'found', key }
    },
    /** Takes a directory as if it had been fetched, for simulated agents; its keys stay beside those fetched later. */
    put(source: KeySource, document: unknown): void {
      simulated.set(source.url, readKeys(document)?.filter(isAccepted) ?? [])
      keepDocument(source, document, undefined)
    },
    /** Resolves when no fetch is in flight. */
    async settled(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay.values())
    },
  }
}

async function getJson(url: string, from: Fetch): Promise<Answered | undefined> {
  // Only `net.allowPrivate` permits plain http, which the fetcher enforces.
  const answer = await fetchBytes(from, { url, maxBytes: FETCH_BYTES, timeoutMs: FETCH_MS, redirects: 0 })
  if (answer.state === 'failed' || answer.status !== 200) return undefined
  const { body, headers } = answer
  const document: unknown = attempt(() => JSON.parse(new TextDecoder().decode(body)))
  return { url, document, body, headers, age: readMaxAge(headers['cache-control']) }
}

function createMemory() {
  return {
    directories: new LRUCache<string, Directory>({ max: MAX_DIRECTORIES }),
    nextByHost: new LRUCache<string, number>({ max: MAX_HOSTS }),
  }
}

/** Reads the usable keys of a JWKS or of a single JWK; returns `undefined` where the document is neither, or holds too many keys. */
function readKeys(document: unknown): readonly AgentKey[] | undefined {
  const keys = !isRecord(document) ? undefined : typeof document['kty'] === 'string' ? [document] : document['keys']
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) return undefined
  return keys.map(readKey).filter((key) => key !== undefined)
}

/** Reads the keys of a Signature Agent Card or their place; returns `undefined` for a card that breaks its rules. */
export function readCard(
  document: unknown,
  { url }: KeySource,
): { readonly keys: unknown } | { readonly url: string } | undefined {
  if (!isRecord(document) || document['client_id'] !== url) return undefined
  const { jwks, jwks_uri: place } = document
  if ((jwks === undefined) === (place === undefined)) return undefined
  if (jwks !== undefined) return { keys: jwks }
  // Keys on another origin would let a card direct load at another site.
  if (typeof place !== 'string' || parseUrl(place)?.origin !== new URL(url).origin) return undefined
  return { url: place }
}

function readMaxAge(cacheControl: string | undefined): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})/.exec(cacheControl ?? '')?.[1]
  const age = seconds === undefined ? USUAL_AGE_MS : Number(seconds) * 1000
  return Math.min(LONGEST_AGE_MS, Math.max(SHORTEST_AGE_MS, age))
}
