import {
  type Clock,
  type Fetch,
  fetchText,
  HOUR_MS,
  type Port43,
  type RegistrableDomain,
  type Whois,
  type WhoisAnswer,
  type WhoisRecord,
} from '@sallyport/core'
import { LRUCache } from 'lru-cache'
import { parseRdap } from './parse-rdap.ts'
import { parseWhoisText, referralIn } from './parse-text.ts'
import { buildRecord, type WhoisFinding } from './record.ts'
import type { Registries, WhoisQuestion } from './registries.ts'

type Service = 'rdap' | 'port43'

/** Resolves to true if a server may be asked, to false if too many questions wait; `asker` is absent for this process. */
export type Turn = (server: string, asker?: string) => Promise<boolean>

export interface WhoisPorts {
  readonly clock: Clock
  readonly outbound: Fetch
  readonly port43: Port43
  readonly turns: Readonly<Record<Service, Turn>>
  /** Called for every question that the cache cannot answer, so that registries can be refreshed. */
  readonly registries: () => Promise<Registries>
}

const BUDGET_MS = 4_000
/** RDAP gets this part of the time; the rest is for port 43. */
const RDAP_MS = 3_000
const MAX_RDAP_BYTES = 256 * 1024
const RDAP_REDIRECTS = 2
/** No service is asked if less time is left. */
const MIN_MS = 50
/** If a registry had less time than this and did not answer, callers with more time must ask again. */
const TELLING_MS = 3_000

const MAX_CACHED = 10_000
/** How long an answer is cached: registrations seldom change, and a free name may be registered at any time. */
const TTL_MS: Readonly<Record<WhoisAnswer['state'], number>> = {
  registered: HOUR_MS,
  free: HOUR_MS / 6,
  reserved: HOUR_MS / 6,
  failed: HOUR_MS / 120,
}

/**
 * Asks the registry of a domain: RDAP first, then port 43 if RDAP gives no answer, then once the registrar that the registry refers to, if
 * it is known. Concurrent questions of one asker about one domain are sent once.
 */
export function createWhois(ports: WhoisPorts): Whois {
  const { clock } = ports
  const answers = new LRUCache<string, WhoisAnswer>({ max: MAX_CACHED, perf: clock, ttlResolution: 0 })
  const running = new Map<string, Promise<WhoisAnswer>>()
  const ask = createQuestions(ports)
  return {
    async find(target, withinMs = BUDGET_MS, asker) {
      const key = JSON.stringify([target.domain, asker])
      const known = answers.get(target.domain) ?? running.get(key)
      if (known !== undefined) return known
      const question: Question = { asker, until: clock.now() + withinMs, tellingMs: withinMs }
      const answer = ask(target, question)
      running.set(key, answer)
      try {
        const result = await answer
        if (result.state !== 'failed' || question.tellingMs >= TELLING_MS) {
          answers.set(target.domain, result, { ttl: TTL_MS[result.state] })
        }
        return result
      } finally {
        running.delete(key)
      }
    },
  }
}

/** Sends the questions about a domain one after the other, until a service answers. */
function createQuestions({ clock, outbound, port43, turns, registries }: WhoisPorts) {
  async function ask({ domain, tld }: RegistrableDomain, question: Question): Promise<WhoisAnswer> {
    const services = await registries()
    const base = services.rdap(tld)
    const server = services.whois(tld, domain)
    const attempts = [
      base && (() => askRdap(`${base}domain/${domain}`, domain, question)),
      server && (() => askRegistry(server, services, question)),
    ]
    const reasons: string[] = []
    for (const attempt of attempts) {
      if (!attempt) continue
      const finding = await attempt()
      if (finding.state === 'registered') return { state: 'registered', domain, record: finding.record }
      if (finding.state === 'free' || finding.state === 'reserved') return { state: finding.state, domain }
      reasons.push(finding.state === 'failed' ? finding.reason : finding.state)
    }
    return { state: 'failed', domain, reason: reasons.join('; ') || `no registry of .${tld} is known` }
  }

  /** Takes the asker's turn at a server; returns the remaining time, or why the server is not asked. */
  async function takeTurn(service: Service, server: string, until: number, question: Question) {
    const start = clock.now()
    if (until - start < MIN_MS) return OUT_OF_TIME
    const isTurn = await turns[service](server, question.asker)
    const now = clock.now()
    question.tellingMs -= isTurn ? now - start : Number.POSITIVE_INFINITY
    if (!isTurn) return { state: 'failed', reason: `too many questions to ${server}` } as const
    return until - now < MIN_MS ? OUT_OF_TIME : until - now
  }

  async function askRdap(url: string, domain: string, question: Question): Promise<Attempt> {
    const until = Math.min(clock.now() + RDAP_MS, question.until)
    const timeoutMs = await takeTurn('rdap', new URL(url).host, until, question)
    if (typeof timeoutMs !== 'number') return timeoutMs
    const headers = { accept: 'application/rdap+json' }
    const request = { url, headers, maxBytes: MAX_RDAP_BYTES, timeoutMs, redirects: RDAP_REDIRECTS }
    const answer = await fetchText(outbound, request)
    if (answer.state === 'failed') return answer
    if (answer.status === 200) return parseRdap(answer.body, domain)
    if (answer.status === 429) return { state: 'throttled' }
    // A 404 in JSON is a free domain (RFC 7480 section 5.3). A web server without RDAP answers every path with 404, in HTML.
    const isRdap = answer.headers['content-type']?.includes('json') === true
    return answer.status === 404 && isRdap ? { state: 'free' } : { state: 'failed', reason: `status ${answer.status}` }
  }

  async function askRegistry(server: WhoisQuestion, services: Registries, question: Question): Promise<Attempt> {
    const text = await askServer(server, question)
    if (typeof text !== 'string') return text
    const finding = parseWhoisText(text, server.domain)
    if (finding.state !== 'registered') return finding
    const registrar = services.registrar(referralIn(text) ?? '')
    if (registrar === undefined || registrar.host === server.host) return finding
    const more = await askServer({ ...registrar, question: server.domain, domain: server.domain }, question)
    const added = typeof more === 'string' ? parseWhoisText(more, server.domain) : more
    return added.state === 'registered'
      ? { state: 'registered', record: merged(finding.record, added.record) }
      : finding
  }

  async function askServer(
    { host, port, question: line }: WhoisQuestion,
    question: Question,
  ): Promise<string | Attempt> {
    const timeoutMs = await takeTurn('port43', `${host}:${port}`, question.until, question)
    if (typeof timeoutMs !== 'number') return timeoutMs
    const answer = await port43.ask({ host, port, question: line, timeoutMs })
    return answer.state === 'answered' ? answer.text : answer
  }

  return ask
}

interface Question {
  readonly asker: string | undefined
  readonly until: number
  /** Time in which the registry's servers could answer. */
  tellingMs: number
}

type Attempt = WhoisFinding | { readonly state: 'failed'; readonly reason: string }

const OUT_OF_TIME = { state: 'failed', reason: 'no time left' } as const

/** Merges the records; the registrar's facts complete the registry's. */
function merged(registry: WhoisRecord, registrar: WhoisRecord): WhoisRecord {
  return buildRecord({
    ...registrar,
    ...registry,
    nameservers: registry.nameservers.length > 0 ? registry.nameservers : registrar.nameservers,
    status: registry.status.length > 0 ? registry.status : registrar.status,
    privacyProtection: registry.privacyProtection || registrar.privacyProtection,
  })
}
