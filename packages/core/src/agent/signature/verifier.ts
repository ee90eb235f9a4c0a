import type { Catalogue } from '../../crawler/catalogue.ts'
import type { Clock } from '../../ports/index.ts'
import type { KeyDirectories } from './directory.ts'
import type { SignatureFinding } from './finding.ts'
import { type About, faultWithKey, findFault, invalid, proven, unverified } from './judged.ts'
import { DIRECTORY_PATH, findKeySource, type KeySource } from './key-source.ts'
import {
  isOldSignature,
  type NamedAgent,
  readAgents,
  readSignatures,
  type SentSignature,
  type SignatureAgents,
  type SignedRequest,
} from './message.ts'
import type { ReplayMemory } from './replay.ts'

/** Judges HTTP message signatures of agents (RFC 9421, Web Bot Auth), from memory. */
export interface SignatureVerifier {
  /** Returns the finding about a received request; `undefined` where none of its signatures is an agent's. */
  look(request: SignedRequest): SignatureFinding | undefined
  /** Judges the fields of a described request: it fetches nothing and uses up no nonce. */
  lookAtDescribed(fields: readonly string[]): SignatureFinding | undefined
}

export interface SignatureVerifierOptions {
  readonly clock: Clock
  readonly catalogue: Catalogue
  readonly directories: KeyDirectories
  readonly replay: ReplayMemory
  /** Lists origins whose directories may be fetched, and URLs of key sets and cards, beside those of the catalogue. */
  readonly agents?: readonly string[] | undefined
  /** Fetches the directory of any agent that names one. */
  readonly discover?: boolean | undefined
  /** The header in which trusted proxies name the host of the client's request; without it they keep Host. */
  readonly authorityHeader?: string | undefined
}

/** Tags an agent's signature; signatures with other tags are between other parties. */
const TAG = 'web-bot-auth'

export function createSignatureVerifier(options: SignatureVerifierOptions): SignatureVerifier {
  const { clock, catalogue, directories, replay, agents = [], discover = false } = options
  const authorityHeader = options.authorityHeader?.toLowerCase()
  const permitted = new Set(agents.map((agent) => new URL(agent).origin))
  const byAgent = new Map(catalogue.crawlers.flatMap((row) => (row.agent === undefined ? [] : [[row.agent, row]])))

  const places = new Set([...agents, ...byAgent.keys()].map(directoryUrl))
  const origins = new Set([...places].map((place) => new URL(place).origin))

  /** A named origin has only its named places: through other places, strangers could use up the one fetch that the origin may receive. */
  function isAllowed({ url }: KeySource): boolean {
    return places.has(url) || (discover && !origins.has(new URL(url).origin))
  }

  function agentFinding(sent: SentSignature, request: SignedRequest, real: boolean): SignatureFinding {
    const named = readAgents(request.fields)
    if (named === undefined) return invalid('Signature-Agent is malformed')
    const stale = findFault(sent, clock.now() / 1000)
    if (stale !== undefined) return invalid(stale)
    const agent = coveredAgent(sent, named)
    if ('fault' in agent) return invalid(agent.fault)
    const place = findKeySource(agent.agent, permitted)
    if (place === undefined) return invalid('Signature-Agent is not a usable https URL')
    const source: KeySource = places.has(place.url) ? place : { ...place, stranger: true }
    const keyId = String(sent.parameters.get('keyid'))
    const crawler = byAgent.get(source.identifier)
    const about: About = { agent: source.identifier, keyId, crawler }
    if (!isAllowed(source)) return unverified(about, `${source.identifier} is not a trusted agent`)
    const found = directories.find(source, keyId, real)
    if (found.state === 'unknown') return unverified(about, `the keys of ${source.identifier} are not loaded yet`)
    if (found.state === 'absent') return unverified(about, `the directory of ${source.identifier} has no such key`)
    const now = clock.now()
    const see = (id: string, until: number) => replay.see(source, id, until, now)
    return faultWithKey(found.key, sent, request, about, now) ?? proven(sent, about, real ? see : undefined)
  }

  function judge(request: SignedRequest, real: boolean): SignatureFinding | undefined {
    if (isOldSignature(request.fields)) return undefined
    const { signatures, fault } = readSignatures(request.fields, [TAG])
    if (signatures.length === 0) return fault === undefined ? undefined : Object.freeze(invalid(fault))
    let best: SignatureFinding | undefined
    for (const signature of signatures) {
      const finding = agentFinding(signature, request, real)
      if (best === undefined || RANK[finding.outcome] > RANK[best.outcome]) best = finding
    }
    return best && Object.freeze(best)
  }

  return {
    look: (request) => judge({ ...request, authorityHeader }, true),
    lookAtDescribed: (fields) => judge({ fields }, false),
  }
}

/** Returns the URL of a named agent's keys: the directory of an origin, else the URL itself. */
function directoryUrl(agent: string): string {
  const url = new URL(agent)
  return url.pathname === '/' && url.search === '' ? url.origin + DIRECTORY_PATH : url.href
}

/** The verifier reports the signature with the highest rank. */
const RANK = { verified: 2, invalid: 1, unverified: 0 } as const

/** Returns the agent that the signature itself covers: anyone could have added an agent that it does not cover. */
function coveredAgent(
  { label, components }: SentSignature,
  named: SignatureAgents,
): { readonly agent: NamedAgent } | { readonly fault: string } {
  if (named.form === 'none') return { fault: 'Signature-Agent is missing' }
  const covered = components.filter(([name]) => name === 'signature-agent')
  if (covered.length === 0) return { fault: 'it does not cover Signature-Agent' }
  if (named.form === 'string') return { agent: named.agent }
  // The signer's member is keyed to the label; without that member the first counts.
  const keys = covered.map(([, parameters]) => parameters.get('key') ?? label)
  const key = keys.find((name) => name === label) ?? keys[0]
  const agent = named.members.get(String(key))
  return agent === undefined ? { fault: `Signature-Agent has no member "${String(key)}"` } : { agent }
}
