import { isInternal } from '../network/inside.ts'
import type { AgentVerdict } from '../values/agent-verdict.ts'
import type { InspectedCrawler } from '../values/inspection.ts'
import type { Reason } from '../values/reason.ts'
import { type AgentClass, NETWORK_CLASSES, type NetworkClass } from '../vocabulary.ts'
import { listSigns, weighBehaviour } from './behaviour-signs.ts'
import { type Evidence, readNamelessSignals, readSignals } from './consistency.ts'
import { listSignals, type Signal } from './signals.ts'
import type { SignatureFinding } from './signature/finding.ts'
import { isAi, type UserAgent } from './user-agent.ts'

/** Holds all evidence of a verdict. */
export interface AgentEvidence extends Evidence {
  /** The client's address is in canonical text. */
  readonly address: string
  readonly userAgent: UserAgent | undefined
  /** False where no header is known at all: then no missing header counts. */
  readonly headersKnown: boolean
  readonly crawler: InspectedCrawler | undefined
  readonly signature: SignatureFinding | undefined
  /** The address is on the policy's allowlist. */
  readonly allowlisted: boolean
  /** The client is at a reserved address of its own, where no header counts. */
  readonly inside: boolean
  /** Names of headless traits that the caller observed in the browser itself. */
  readonly headlessFlags?: readonly string[] | undefined
}

/** Holds the parts of a verdict on a browser. */
interface BrowserEvidence {
  readonly bits: number
  readonly network: number
  readonly headersKnown: boolean
}

/** Remembers how a verdict was made, and the verdicts that signs of behaviour turn it into, by their bits. */
interface Made {
  readonly evidence: BrowserEvidence
  readonly signature: SignatureFinding | undefined
  readonly raised: Map<number, AgentVerdict>
}

/** Log-odds of a program where the signs add up to nothing. */
const PRIOR = -3
/** Log-odds of a program before its contradictions count: somewhat less than one request in five. */
const PRIOR_CONTRADICTED = -1.5
/** Signs of this sum are doubt: a program in three of four cases. A policy may challenge, and should not block. */
const DOUBTFUL = 4
/** Signs of this sum are a program in 95 of 100 cases. No single middlebox removes so many fields. */
const PROGRAM = 6
/** Signals of this weight leave no consistency. */
const NO_CONSISTENCY = 6

/** Adds the weight of a network to the sum of signs: people's browsers seldom come from servers, and more often through VPNs. */
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

/** No verdict is certain. */
const SUREST = 0.99

/** States the confidence of each ground. */
const CONFIDENCE = {
  proven: 0.99,
  disproved: 0.95,
  headless: 0.99,
  automation: 0.95,
  /** No browser writes such a user agent, but unknown applications and devices do too. */
  unlike: 0.6,
  named: 0.8,
  namedAi: 0.75,
} as const

/** The probability that a client that calls itself a program is one: hardly any person borrows such a name. */
const NAMES_A_PROGRAM = 0.95

const NO_FLAGS: readonly string[] = Object.freeze([])

const MAX_REMEMBERED = 4096

/**
 * Judges clients, in the order of `AGENT_BASES`. Browsers show few combinations of signals, so their verdicts are made once and shared: the
 * common request allocates no object here.
 */
export function createAgentJudge() {
  const browsers = new Map<number, AgentVerdict>()
  const made = new WeakMap<AgentVerdict, Made>()

  function judgeBrowser(userAgent: UserAgent | undefined, evidence: AgentEvidence, excused: boolean): AgentVerdict {
    const bits = excused || !evidence.headersKnown ? 0 : browserBits(userAgent, evidence)
    const place = excused ? 0 : NETWORK_CLASSES.indexOf(evidence.network.verdict.classification) + 1
    const key = (bits * 16 + place) * 2 + (evidence.headersKnown ? 1 : 0)
    const known = browsers.get(key)
    if (known !== undefined) return known
    const network = excused ? 0 : NETWORK_WEIGHTS[evidence.network.verdict.classification]
    const found = { bits, network, headersKnown: evidence.headersKnown }
    const verdict = browserVerdict(found, 0)
    if (!excused) remember(verdict, found, undefined)
    // No site sees all combinations; a flood of made-up ones is judged each time.
    if (browsers.size < MAX_REMEMBERED) browsers.set(key, verdict)
    return verdict
  }

  function remember(verdict: AgentVerdict, evidence: BrowserEvidence, signature: SignatureFinding | undefined): void {
    made.set(verdict, { evidence, signature, raised: new Map() })
  }

  return {
    judge(evidence: AgentEvidence): AgentVerdict {
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
      const browser = complete ? undefined : made.get(verdict)
      if (browser !== undefined) remember(whole, browser.evidence, signature)
      if (!allowlisted) return whole
      return Object.freeze({
        ...whole,
        identity: Object.freeze({ type: 'address', name: evidence.address, verified: true }),
      })
    },
    /** Adds signs of behaviour, as bits, to a verdict of this judge. A verdict that rests on a name or a proof stays as it is. */
    withBehaviour(verdict: AgentVerdict, bits: number): AgentVerdict {
      const from = made.get(verdict)
      if (from === undefined || weighBehaviour(bits) === 0) return verdict
      const known = from.raised.get(bits)
      if (known !== undefined) return known
      const browser = browserVerdict(from.evidence, bits)
      const raised = from.signature === undefined ? browser : withSignature(browser, from.signature)
      from.raised.set(bits, raised)
      return raised
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
  return giveVerdict({
    class: forged ? 'impostor' : findProvenClass(crawler?.purpose ?? 'agent'),
    confidence: forged ? CONFIDENCE.disproved : CONFIDENCE.proven,
    botProbability: SUREST,
    basis: 'signature',
    ...(ai && { ai: { name: crawler?.name ?? agent, vendor: crawler?.operator ?? agent } }),
    identity: { type: 'signature', name: agent, verified: !forged },
    ...(crawler !== undefined && { operator: crawler.operator, purpose: crawler.purpose }),
    ...rateConsistency(evidence),
    reasons: [{ id: `signature:${signature.outcome}`, text: detail }],
  })
}

/** A program that acts for a person is an agent; one that collects for an operator is a crawler. */
function findProvenClass(purpose: string): AgentClass {
  return purpose === 'agent' ? 'ai_agent' : 'verified_crawler'
}

function crawlerVerdict(crawler: InspectedCrawler | undefined, evidence: AgentEvidence): AgentVerdict | undefined {
  if (crawler === undefined) return undefined
  const { slug, name, operator, purpose, outcome, summary, kept = 1 } = crawler
  const ai = isAi(crawler)
  const disproved = outcome === 'spoofed' && !evidence.allowlisted
  const proven = outcome === 'verified'
  const named = ai ? 'ai_agent' : 'unverified_bot'
  return giveVerdict({
    class: disproved ? 'impostor' : proven ? findProvenClass(purpose) : named,
    confidence: disproved
      ? CONFIDENCE.disproved
      : proven
        ? CONFIDENCE.proven * kept
        : CONFIDENCE[ai ? 'namedAi' : 'named'],
    botProbability: disproved || proven ? SUREST : NAMES_A_PROGRAM,
    basis: ai && !proven && !disproved ? 'ai-name' : 'crawler',
    ...(ai && { ai: { name, vendor: operator } }),
    identity: { type: 'crawler', name: slug, verified: proven },
    operator,
    purpose,
    ...rateConsistency(evidence),
    reasons: [{ id: `crawler:${outcome}`, text: summary, source: 'crawlers' }],
  })
}

/** Judges by signs in a user agent that names no crawler of the catalogue, and by those that the caller saw. */
function namedVerdict(userAgent: UserAgent | undefined, evidence: AgentEvidence): AgentVerdict | undefined {
  const ai = userAgent?.ai
  if (ai !== undefined) {
    return giveVerdict({
      class: 'ai_agent',
      confidence: CONFIDENCE.namedAi,
      botProbability: NAMES_A_PROGRAM,
      basis: 'ai-name',
      ai,
      ...rateConsistency(evidence),
      reasons: [{ id: 'ai-name', text: `The user agent names ${ai.name}, an AI of ${ai.vendor}.` }],
    })
  }
  const headlessFlags = evidence.headlessFlags ?? NO_FLAGS
  const automation = userAgent?.automation
  const hinted = !evidence.inside && evidence.fields.brands?.includes('Headless') === true
  if (automation === undefined && headlessFlags.length === 0 && !hinted) return undefined
  const headless = hinted || headlessFlags.length > 0 || automation?.headless === true
  const reasons: Reason[] = headlessFlags.map((flag) => ({
    id: 'headless-flag',
    text: `The caller found ${flag.slice(0, 100)} in the browser.`,
  }))
  if (hinted) reasons.push({ id: 'headless-brand', text: 'The client hints name a headless browser.' })
  if (automation !== undefined) reasons.push({ id: 'automation', text: automationText(automation.name) })
  const confidence = CONFIDENCE[headless ? 'headless' : automation?.name === undefined ? 'unlike' : 'automation']
  return giveVerdict({
    class: 'unverified_bot',
    confidence,
    botProbability: confidence,
    basis: 'automation',
    headless,
    ...rateConsistency(evidence),
    reasons,
  })
}

function automationText(name: string | undefined): string {
  return name === undefined
    ? 'No browser writes its user agent in this form.'
    : `The user agent declares a program: "${name}".`
}

function browserBits(userAgent: UserAgent | undefined, evidence: AgentEvidence): number {
  return userAgent === undefined ? readNamelessSignals(evidence) : readSignals(userAgent, evidence)
}

/**
 * Makes the verdict from the signs of a request that claims a browser, or that names nothing. Each sign against it raises the probability:
 * no sign lowers another, and no cap ends the sum.
 */
function browserVerdict({ bits, network, headersKnown }: BrowserEvidence, behaviour: number): AgentVerdict {
  const signals = listSignals(bits)
  const against = sumWeights(signals, 'contradiction')
  const absent = sumWeights(signals, 'absence')
  const still = network + against + absent + sumWeights(signals, 'support')
  const moved = weighBehaviour(behaviour)
  // A copied set of browser headers is complete, so support by headers does not reduce the signs of behaviour.
  const sum = moved === 0 ? still : Math.max(0, still) + moved
  const isProgram = against > 0 || sum >= PROGRAM
  const botProbability = estimateBotProbability(sum, against)
  return giveVerdict({
    class: isProgram ? 'unverified_bot' : 'human',
    confidence: isProgram ? botProbability : 1 - botProbability,
    botProbability,
    basis: readBasis({ against, still, sum, network }),
    ...(headersKnown && { headerConsistency: computeConsistency(against + absent) }),
    reasons: [...signals, ...listSigns(behaviour)].map(({ id, weight, text }) => ({ id, weight, text })),
  })
}

function readBasis(sums: Readonly<Record<'against' | 'still' | 'sum' | 'network', number>>): AgentVerdict['basis'] {
  if (sums.against > 0) return 'contradiction'
  if (sums.still >= DOUBTFUL) return 'absence'
  if (sums.sum >= DOUBTFUL) return 'behaviour'
  return sums.network > 0 ? 'network' : 'none'
}

/** A consistent part excuses no contradiction, because a client that copies a browser's headers copies that part first. */
function estimateBotProbability(sum: number, against: number): number {
  const log = Math.max(PRIOR + sum, against > 0 ? PRIOR_CONTRADICTED + against : Number.NEGATIVE_INFINITY)
  return 1 / (1 + Math.exp(-log))
}

/** Rates how far the headers agree with the user agent; without headers there is no rate. */
function rateConsistency(evidence: AgentEvidence): { readonly headerConsistency?: number | undefined } {
  if (!evidence.headersKnown) return {}
  const signals = listSignals(browserBits(evidence.userAgent, evidence))
  return {
    headerConsistency: computeConsistency(sumWeights(signals, 'contradiction') + sumWeights(signals, 'absence')),
  }
}

function computeConsistency(against: number): number {
  return roundShare(Math.max(0, 1 - against / NO_CONSISTENCY))
}

function sumWeights(signals: readonly Signal[], kind: Signal['kind']): number {
  return signals.reduce((sum, signal) => (signal.kind === kind ? sum + signal.weight : sum), 0)
}

function roundShare(value: number): number {
  return Math.round(value * 100) / 100
}

/** The verdict where there was no evidence. */
export const NO_VERDICT: AgentVerdict = Object.freeze({
  class: 'human',
  confidence: 0,
  botProbability: 0.5,
  basis: 'none',
  headless: false,
  reasons: Object.freeze([]),
})

type Draft = Omit<AgentVerdict, 'headless'> & { readonly headless?: boolean | undefined }

function giveVerdict(draft: Draft): AgentVerdict {
  return Object.freeze({
    ...draft,
    confidence: Math.min(SUREST, roundShare(draft.confidence)),
    botProbability: Math.min(SUREST, roundShare(draft.botProbability)),
    headless: draft.headless ?? false,
    ...(draft.ai && { ai: Object.freeze(draft.ai) }),
    ...(draft.identity && { identity: Object.freeze(draft.identity) }),
    reasons: Object.freeze(draft.reasons.map((reason) => Object.freeze(reason))),
  })
}

/** A signature that proves nothing is reported too, under the claimed identity. */
function withSignature(verdict: AgentVerdict, { outcome, agent, detail }: SignatureFinding): AgentVerdict {
  const reason = Object.freeze({ id: `signature:${outcome}`, text: detail })
  return Object.freeze({
    ...verdict,
    ...(verdict.identity === undefined &&
      agent !== undefined && { identity: Object.freeze({ type: 'signature', name: agent, verified: false }) }),
    reasons: Object.freeze([reason, ...verdict.reasons]),
  })
}
