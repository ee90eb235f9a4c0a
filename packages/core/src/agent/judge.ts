import { isInternal } from '../network/inside.ts'
import type { AgentIdentity, AgentVerdict } from '../values/agent-verdict.ts'
import type { InspectedCrawler } from '../values/inspection.ts'
import type { Reason } from '../values/reason.ts'
import { type AgentClass, NETWORK_CLASSES, type NetworkClass } from '../vocabulary.ts'
import { type Availability, type Evidence, readNamelessSignals, readSignals } from './consistency.ts'
import { type Signal, signalsOf } from './signals.ts'
import type { SignatureFinding } from './signature/finding.ts'
import { isAi, type UserAgent } from './user-agent.ts'

/** All that a verdict is made of. */
export interface AgentEvidence extends Evidence, Availability {
  /** Canonical text of the client's address. */
  readonly address: string
  readonly userAgent: UserAgent | undefined
  /** False where no header is known at all: nothing is missing then. */
  readonly headersKnown: boolean
  readonly crawler: InspectedCrawler | undefined
  readonly signature: SignatureFinding | undefined
  /** The address is on the policy's allowlist. */
  readonly allowlisted: boolean
  /** The client is at a reserved address of its own, where no header counts. */
  readonly inside: boolean
  /** Names of headless traits that the caller observed in the browser itself. */
  readonly headlessFlags: readonly string[] | undefined
}

export interface AgentJudge {
  judge(evidence: AgentEvidence): AgentVerdict
}

/** Log-odds of a program where the signs add up to nothing. */
const PRIOR = -3
/** Log-odds of a program before its contradictions are looked at: somewhat less than one request in five. */
const PRIOR_CONTRADICTED = -1.5
/** Signs of this much are doubt: a program in three of four cases. A policy may challenge, and should not block. */
const DOUBTFUL = 4
/** Signs of this much are a program in 95 of 100 cases. No single middlebox removes so many fields. */
const PROGRAM = 6
/** The weight of signals at which nothing of the consistency is left. */
const NO_CONSISTENCY = 6

/** Weights of networks in the sum of signs: people's browsers come from servers seldom, through VPNs more often. */
const NETWORK_WEIGHTS: Readonly<Record<NetworkClass, number>> = {
  hosting: 2,
  datacenter: 2,
  vpn: 1,
  residential_proxy: 1,
  tor: 1,
  residential_clean: 0,
  mobile: 0,
  unknown: 0,
}

/** Nothing here is certain. */
const SUREST = 0.99

/** How sure each way of knowing is. */
const CONFIDENCE = {
  proven: 0.99,
  disproved: 0.95,
  headless: 0.99,
  automation: 0.95,
  /** Written as no browser writes it: applications and devices that nobody has heard of are too. */
  unlike: 0.6,
  named: 0.8,
  namedAi: 0.75,
} as const

/** How likely the client is a program that says so: a name may be borrowed, and hardly ever by a person. */
const NAMES_A_PROGRAM = 0.95

const NO_FLAGS: readonly string[] = Object.freeze([])

const MAX_REMEMBERED = 4096

/**
 * Judges clients, in the order of `AGENT_BASES`. What browsers show is few combinations, so their verdicts are made
 * once and shared: the common request makes no object here.
 */
export function createAgentJudge(): AgentJudge {
  const browsers = new Map<number, AgentVerdict>()

  function judgeBrowser(userAgent: UserAgent | undefined, evidence: AgentEvidence, excused: boolean): AgentVerdict {
    const bits = excused || !evidence.headersKnown ? 0 : browserBits(userAgent, evidence)
    const place = excused ? 0 : NETWORK_CLASSES.indexOf(evidence.network.verdict.classification) + 1
    const key = (bits * 16 + place) * 2 + (evidence.headersKnown ? 1 : 0)
    const known = browsers.get(key)
    if (known !== undefined) return known
    const made = browserVerdict(bits, evidence, excused)
    // Nobody has all combinations; a flood of made ones is judged each time.
    if (browsers.size < MAX_REMEMBERED) browsers.set(key, made)
    return made
  }

  return {
    judge(evidence) {
      const { userAgent, signature, crawler, allowlisted, inside, network } = evidence
      // An operator's own machines and those that the policy trusts are not suspected.
      const excused = allowlisted || isInternal(network.reserved)
      const verdict =
        signatureVerdict(signature, evidence, excused) ??
        crawlerVerdict(crawler, evidence) ??
        namedVerdict(inside ? undefined : userAgent, evidence) ??
        judgeBrowser(userAgent, evidence, excused)
      const complete = signature === undefined || verdict.basis === 'signature'
      const whole = complete ? verdict : withSignature(verdict, signature)
      return allowlisted ? withIdentity(whole, { type: 'address', name: evidence.address, verified: true }) : whole
    },
  }
}

function signatureVerdict(
  signature: SignatureFinding | undefined,
  evidence: AgentEvidence,
  excused: boolean,
): AgentVerdict | undefined {
  if (signature === undefined || signature.agent === undefined) return undefined
  const { crawler, agent, detail } = signature
  const forged = signature.forged && !excused
  if (signature.outcome !== 'verified' && !forged) return undefined
  const ai = crawler === undefined || isAi(crawler)
  return verdictOf({
    class: forged ? 'impostor' : classOfProven(crawler?.purpose ?? 'agent'),
    confidence: forged ? CONFIDENCE.disproved : CONFIDENCE.proven,
    botProbability: SUREST,
    basis: 'signature',
    ...(ai && { ai: { name: crawler?.name ?? agent, vendor: crawler?.operator ?? agent } }),
    identity: { type: 'signature', name: agent, verified: !forged },
    ...(crawler !== undefined && { operator: crawler.operator, purpose: crawler.purpose }),
    ...consistencyOf(evidence),
    reasons: [{ id: `signature:${signature.outcome}`, text: detail }],
  })
}

/** A program that acts for a person is an agent; one that collects for an operator is a crawler. */
function classOfProven(purpose: string): AgentClass {
  return purpose === 'agent' ? 'ai_agent' : 'verified_crawler'
}

function crawlerVerdict(crawler: InspectedCrawler | undefined, evidence: AgentEvidence): AgentVerdict | undefined {
  if (crawler === undefined) return undefined
  const { slug, name, operator, purpose, outcome, summary } = crawler
  const ai = isAi(crawler)
  const disproved = outcome === 'spoofed' && !evidence.allowlisted
  const proven = outcome === 'verified'
  const named = ai ? 'ai_agent' : 'unverified_bot'
  return verdictOf({
    class: disproved ? 'impostor' : proven ? classOfProven(purpose) : named,
    confidence: disproved ? CONFIDENCE.disproved : proven ? CONFIDENCE.proven : CONFIDENCE[ai ? 'namedAi' : 'named'],
    botProbability: disproved || proven ? SUREST : NAMES_A_PROGRAM,
    basis: ai && !proven && !disproved ? 'ai-name' : 'crawler',
    ...(ai && { ai: { name, vendor: operator } }),
    identity: { type: 'crawler', name: slug, verified: proven },
    operator,
    purpose,
    ...consistencyOf(evidence),
    reasons: [{ id: `crawler:${outcome}`, text: summary, source: 'crawlers' }],
  })
}

/** Signs in a user agent that names no crawler of the catalogue, and those that the caller saw. */
function namedVerdict(userAgent: UserAgent | undefined, evidence: AgentEvidence): AgentVerdict | undefined {
  const ai = userAgent?.ai
  if (ai !== undefined) {
    const reasons = [{ id: 'ai-name', text: `The user agent names ${ai.name}, an AI of ${ai.vendor}.` }]
    const consistency = consistencyOf(evidence)
    return verdictOf({
      class: 'ai_agent',
      confidence: CONFIDENCE.namedAi,
      botProbability: NAMES_A_PROGRAM,
      basis: 'ai-name',
      ai,
      ...consistency,
      reasons,
    })
  }
  const headlessFlags = evidence.headlessFlags ?? NO_FLAGS
  const automation = userAgent?.automation
  const hinted = !evidence.inside && evidence.fields.brands?.includes('Headless') === true
  if (automation === undefined && headlessFlags.length === 0 && !hinted) return undefined
  const headless = hinted || headlessFlags.length > 0 || automation?.headless === true
  const reasons: Reason[] = headlessFlags.map((flag) => ({
    id: 'headless-flag',
    text: `The caller saw ${flag.slice(0, 100)} in the browser.`,
  }))
  if (hinted) reasons.push({ id: 'headless-brand', text: 'The client hints name a headless browser.' })
  if (automation !== undefined) reasons.push({ id: 'automation', text: automationText(automation.name) })
  const confidence = CONFIDENCE[headless ? 'headless' : automation?.name === undefined ? 'unlike' : 'automation']
  return verdictOf({
    class: 'unverified_bot',
    confidence,
    botProbability: confidence,
    basis: 'automation',
    headless,
    ...consistencyOf(evidence),
    reasons,
  })
}

function automationText(name: string | undefined): string {
  return name === undefined
    ? 'The user agent is not written as any browser writes it.'
    : `The user agent says that it is a program: "${name}".`
}

function browserBits(userAgent: UserAgent | undefined, evidence: AgentEvidence): number {
  return userAgent === undefined ? readNamelessSignals(evidence, evidence) : readSignals(userAgent, evidence, evidence)
}

/**
 * The verdict of the signs of a request that claims a browser, or nothing. The more there is against it, the higher its
 * probability: no sign lowers another, and no cap ends the sum.
 */
function browserVerdict(bits: number, evidence: AgentEvidence, excused: boolean): AgentVerdict {
  const signals = signalsOf(bits)
  const network = excused ? 0 : NETWORK_WEIGHTS[evidence.network.verdict.classification]
  const against = weightOf(signals, 'contradiction')
  const absent = weightOf(signals, 'absence')
  const sum = network + against + absent + weightOf(signals, 'support')
  const isProgram = against > 0 || sum >= PROGRAM
  const botProbability = estimateBotProbability(sum, against)
  return verdictOf({
    class: isProgram ? 'unverified_bot' : 'human',
    confidence: isProgram ? botProbability : 1 - botProbability,
    botProbability,
    basis: against > 0 ? 'contradiction' : sum >= DOUBTFUL ? 'absence' : network > 0 ? 'network' : 'none',
    ...(evidence.headersKnown && { headerConsistency: consistencyFrom(against + absent) }),
    reasons: signals.map(({ id, weight, text }) => ({ id, weight, text })),
  })
}

/** A consistent part excuses no contradiction, because a copy of a browser's headers has those first. */
function estimateBotProbability(sum: number, against: number): number {
  const log = Math.max(PRIOR + sum, against > 0 ? PRIOR_CONTRADICTED + against : Number.NEGATIVE_INFINITY)
  return 1 / (1 + Math.exp(-log))
}

/** How far the headers agree with the user agent; without headers it cannot be said. */
function consistencyOf(evidence: AgentEvidence): { readonly headerConsistency?: number | undefined } {
  if (!evidence.headersKnown) return {}
  const signals = signalsOf(browserBits(evidence.userAgent, evidence))
  return { headerConsistency: consistencyFrom(weightOf(signals, 'contradiction') + weightOf(signals, 'absence')) }
}

function consistencyFrom(against: number): number {
  return rounded(Math.max(0, 1 - against / NO_CONSISTENCY))
}

function weightOf(signals: readonly Signal[], kind: Signal['kind']): number {
  return signals.reduce((sum, signal) => (signal.kind === kind ? sum + signal.weight : sum), 0)
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

/** The verdict where nothing could be looked at. */
export const NO_VERDICT: AgentVerdict = Object.freeze({
  class: 'human',
  confidence: 0,
  botProbability: 0.5,
  basis: 'none',
  headless: false,
  reasons: Object.freeze([]),
})

type Draft = Omit<AgentVerdict, 'headless'> & { readonly headless?: boolean | undefined }

function verdictOf(draft: Draft): AgentVerdict {
  return Object.freeze({
    ...draft,
    confidence: Math.min(SUREST, rounded(draft.confidence)),
    botProbability: Math.min(SUREST, rounded(draft.botProbability)),
    headless: draft.headless ?? false,
    ...(draft.ai && { ai: Object.freeze(draft.ai) }),
    ...(draft.identity && { identity: Object.freeze(draft.identity) }),
    reasons: Object.freeze(draft.reasons.map((reason) => Object.freeze(reason))),
  })
}

function withIdentity(verdict: AgentVerdict, identity: AgentIdentity): AgentVerdict {
  return Object.freeze({ ...verdict, identity: Object.freeze(identity) })
}

/** A signature that proves nothing is reported too, under the identity that was claimed. */
function withSignature(verdict: AgentVerdict, { outcome, agent, detail }: SignatureFinding): AgentVerdict {
  const reason = Object.freeze({ id: `signature:${outcome}`, text: detail })
  return Object.freeze({
    ...verdict,
    ...(verdict.identity === undefined &&
      agent !== undefined && { identity: Object.freeze({ type: 'signature', name: agent, verified: false }) }),
    reasons: Object.freeze([reason, ...verdict.reasons]),
  })
}
