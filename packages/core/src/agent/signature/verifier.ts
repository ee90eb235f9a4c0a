import type { Catalogue, Crawler } from '../../crawler/catalogue.ts'
import type { Clock } from '../../ports.ts'
import type { KeyDirectories } from './directory.ts'
import type { SignatureFinding } from './finding.ts'
import { type AgentKey, ALGORITHMS, isSignedBy } from './key.ts'
import { DIRECTORY_PATH, type KeySource, keySourceOf } from './key-source.ts'
import {
  isOldSignature,
  type NamedAgent,
  readAgents,
  readSignatures,
  type SentSignature,
  type SignatureAgents,
  type SignedRequest,
  signatureBase,
} from './message.ts'
import type { ReplayMemory } from './replay.ts'

/** Judges HTTP message signatures of agents (RFC 9421, Web Bot Auth), from memory. */
export interface SignatureVerifier {
  /** The finding about a request that came here; `undefined` where none of its signatures is an agent's. */
  look(request: SignedRequest): SignatureFinding | undefined
  /** The same for the fields of a described request: nothing is fetched and no nonce is used up. */
  lookAtDescribed(fields: readonly string[]): SignatureFinding | undefined
}

export interface SignatureVerifierOptions {
  readonly clock: Clock
  readonly catalogue: Catalogue
  readonly directories: KeyDirectories
  readonly replay: ReplayMemory
  /** Origins whose directories may be fetched, and URLs of key sets and cards, beside those of the catalogue. */
  readonly agents?: readonly string[]
  /** Fetch the directory of any agent that names one. */
  readonly discover?: boolean
}

/** The tag of an agent's signature; others are between other parties. */
const TAG = 'web-bot-auth'
/** How far a signer's clock may be ahead, in seconds. */
export const SKEW_S = 30
/** The longest that a signature may be good for, in seconds. */
export const LONGEST_LIFE_S = 24 * 3600

export function createSignatureVerifier(options: SignatureVerifierOptions): SignatureVerifier {
  const { clock, catalogue, directories, replay, agents = [], discover = false } = options
  const permitted = new Set(agents.map((agent) => new URL(agent).origin))
  const byAgent = new Map(catalogue.crawlers.flatMap((row) => (row.agent === undefined ? [] : [[row.agent, row]])))

  const places = new Set([...agents, ...byAgent.keys()].map(placeOf))
  const origins = new Set([...places].map((place) => new URL(place).origin))

  /** Of an origin that is named its named places alone: on another, strangers could spend the one fetch it is due. */
  function isAllowed({ url }: KeySource): boolean {
    return places.has(url) || (discover && !origins.has(new URL(url).origin))
  }

  function findingOf(sent: SentSignature, named: SignatureAgents, request: SignedRequest, real: boolean): Judged {
    const stale = faultOf(sent, clock.now() / 1000)
    if (stale !== undefined) return invalid(stale)
    const agent = coveredAgent(sent, named)
    if ('fault' in agent) return invalid(agent.fault)
    const source = keySourceOf(agent.agent, permitted)
    if (source === undefined) return invalid('Signature-Agent is not a usable https URL')
    const keyId = String(sent.parameters.get('keyid'))
    const crawler = byAgent.get(source.identifier)
    const about: About = { agent: source.identifier, keyId, ...(crawler !== undefined && { crawler }) }
    if (!isAllowed(source)) return unverified(about, `${source.identifier} is not an agent that is trusted here`)
    const found = directories.find(source, keyId, real)
    if (found.state === 'unknown') return unverified(about, `the keys of ${source.identifier} are not known yet`)
    if (found.state === 'absent') return unverified(about, `the directory of ${source.identifier} has no such key`)
    const now = clock.now()
    return faultWithKey(found.key, sent, request, about, now) ?? proven(sent, about, real ? now : undefined)
  }

  function proven({ parameters, components }: SentSignature, about: About, now: number | undefined): Judged {
    const nonce = parameters.get('nonce')
    const until = Number(parameters.get('expires')) * 1000
    const seen =
      typeof nonce === 'string' && now !== undefined ? replay.see(`${about.keyId} ${nonce}`, until, now) : undefined
    if (seen === 'seen') return { ...invalid('its nonce was used before'), ...about }
    const names = new Set(components.map(([name]) => name))
    const bound = names.has('@target-uri') || (names.has('@path') && names.has('@method'))
    return {
      outcome: 'verified',
      ...about,
      forged: false,
      replay: seen === 'new' ? 'checked' : 'unchecked',
      replayable: !bound,
      detail: `Signed by ${about.crawler?.name ?? about.agent}, with a key of ${about.agent}.`,
    }
  }

  function judge(request: SignedRequest, real: boolean): SignatureFinding | undefined {
    if (isOldSignature(request.fields)) return undefined
    const sent = readSignatures(request.fields, TAG)
    const tagged = 'signatures' in sent ? sent.signatures : []
    if (tagged.length === 0) return sent.fault === undefined ? undefined : Object.freeze(invalid(sent.fault))
    const named = readAgents(request.fields)
    if (named === undefined) return Object.freeze(invalid('Signature-Agent is malformed'))
    let best: Judged | undefined
    for (const signature of tagged) {
      const finding = findingOf(signature, named, request, real)
      if (best === undefined || RANK[finding.outcome] > RANK[best.outcome]) best = finding
    }
    return best && Object.freeze(best)
  }

  return {
    look: (request) => judge(request, true),
    lookAtDescribed: (fields) => judge({ fields }, false),
  }
}

/** Where the keys of a named agent are: the directory of an origin, else the URL itself. */
function placeOf(agent: string): string {
  const url = new URL(agent)
  return url.pathname === '/' && url.search === '' ? url.origin + DIRECTORY_PATH : url.href
}

type Judged = SignatureFinding

interface About {
  readonly agent: string
  readonly keyId: string
  readonly crawler?: Crawler
}

/** What is wrong with a signature by this key; `undefined` where it is valid. */
function faultWithKey(
  key: AgentKey,
  sent: SentSignature,
  request: SignedRequest,
  about: About,
  now: number,
): Judged | undefined {
  if (now < (key.notBefore ?? 0) || now >= (key.notAfter ?? Number.POSITIVE_INFINITY)) {
    return { ...invalid('the key is not in use now'), ...about }
  }
  const algorithm = sent.parameters.get('alg')
  if (algorithm !== undefined && algorithm !== key.algorithm) {
    return { ...invalid('the key is not for this algorithm'), ...about }
  }
  const base = signatureBase(sent, request)
  if (base === undefined) return unverified(about, 'something that it covers is not in the request as it is known')
  if (isSignedBy(key, base, sent.signature)) return undefined
  // A proxy that is not configured may have changed what was signed, which is no forgery.
  const forged = !isBehindUnknownProxy(request)
  return { ...invalid(`it was not made by the key of ${about.agent}`), ...about, forged }
}

/** Of several signatures the one of the highest rank counts. */
const RANK = { verified: 2, invalid: 1, unverified: 0 } as const

function invalid(why: string): Judged {
  return { outcome: 'invalid', forged: false, detail: `The signature is not valid: ${why}.` }
}

function unverified(about: About, why: string): Judged {
  return { outcome: 'unverified', ...about, forged: false, detail: `The signature could not be verified: ${why}.` }
}

/** What is wrong with the parameters and the coverage of a signature, before any key is looked for. */
function faultOf({ parameters, components }: SentSignature, now: number): string | undefined {
  const created = parameters.get('created')
  const expires = parameters.get('expires')
  if (typeof created !== 'number' || typeof expires !== 'number') return 'created or expires is missing'
  if (typeof parameters.get('keyid') !== 'string') return 'keyid is missing'
  if (created > now + SKEW_S) return 'it was made in the future'
  if (expires <= now) return 'it has expired'
  if (expires - created > LONGEST_LIFE_S) return 'it is good for more than a day'
  const algorithm = parameters.get('alg')
  if (algorithm !== undefined && !ALGORITHMS.some((name) => name === algorithm)) return 'its algorithm is not accepted'
  const covers = (wanted: string) => components.some(([name]) => name === wanted)
  return covers('@authority') || covers('@target-uri') ? undefined : 'it covers neither @authority nor @target-uri'
}

/** The agent that the signature itself covers: one that it does not cover could be anybody's addition. */
function coveredAgent(
  { label, components }: SentSignature,
  named: SignatureAgents,
): { readonly agent: NamedAgent } | { readonly fault: string } {
  if (named.form === 'none') return { fault: 'there is no Signature-Agent' }
  const covered = components.filter(([name]) => name === 'signature-agent')
  if (covered.length === 0) return { fault: 'it does not cover Signature-Agent' }
  if (named.form === 'string') return { agent: named.agent }
  // Of several members the one keyed to the label is the signer's; without that one the first.
  const keys = covered.map(([, parameters]) => parameters.get('key') ?? label)
  const key = keys.find((name) => name === label) ?? keys[0]
  const agent = named.members.get(String(key))
  return agent === undefined ? { fault: `Signature-Agent has no member "${String(key)}"` } : { agent }
}

const PROXY_FIELDS = ['via', 'forwarded', 'x-forwarded-for', 'x-forwarded-host']

function isBehindUnknownProxy({ fields, trusted }: SignedRequest): boolean {
  if (trusted === true) return false
  return fields.some((name, at) => at % 2 === 0 && PROXY_FIELDS.includes(name.toLowerCase()))
}
