import {
  type ChallengeStep,
  formatCall,
  listEventFacts,
  type ObservedRequest,
  type PaymentStep,
  readRule,
  tightest,
} from '@sallyport/core'

/**
 * Describes one request in one line of the decision log. Unknown members are absent. Times are milliseconds, except `time`, which is ISO
 * 8601 in UTC; addresses have the form of `log.addresses`.
 */
export interface LogLine {
  readonly time: string
  readonly requestId: string
  readonly action?: string | undefined
  /** False if monitor mode did not carry the action out. */
  readonly enforced?: boolean | undefined
  /** The action that a rule on trial would have taken, and the id of the rule. */
  readonly trial?: string | undefined
  readonly trialRule?: string | undefined
  /** The rule that decided. */
  readonly rule?: string | undefined
  /** The ban that refused or challenged the client: its id, the kinds of its strikes, and its end, ISO 8601 in UTC. */
  readonly ban?: string | undefined
  readonly banStrikes?: readonly string[] | undefined
  readonly banUntil?: string | undefined
  /** The limit that left least room: its rule, the position of the request, the maximum, and the window in milliseconds. */
  readonly limitRule?: string | undefined
  readonly limitUsed?: number | undefined
  readonly limitMax?: number | undefined
  /** A limit of requests in flight has no window. */
  readonly limitWindow?: number | undefined
  /** How the request took part in a challenge, the rule that asked for the challenge, its level, and how long the solution took. */
  readonly challenge?: string | undefined
  readonly challengeRule?: string | undefined
  readonly challengeLevel?: number | undefined
  readonly challengeMilliseconds?: number | undefined
  /** How the request took part in an offer, and the payment's name or why a receipt was not accepted. */
  readonly payment?: string | undefined
  readonly paymentReceipt?: string | undefined
  readonly paymentReason?: string | undefined
  /** The pass that the request brought, and its age in seconds. */
  readonly passLevel?: number | undefined
  readonly passAge?: number | undefined
  readonly class?: string | undefined
  /** Estimates, from 0 to 1, that the client is a program. */
  readonly botProbability?: number | undefined
  /** Signs of what the visitor did before in this visit, the number of pages, and the visitor's group. */
  readonly behaviour?: readonly string[] | undefined
  readonly behaviourPages?: number | undefined
  readonly likeness?: string | undefined
  readonly networkClass?: string | undefined
  readonly client?: string | undefined
  readonly ja4?: string | undefined
  readonly ja4Header?: string | undefined
  readonly method: string
  readonly host: string
  /** The path has no query here. */
  readonly path: string
  /** Calls of an MCP client, as `tools/call search`. */
  readonly mcp?: readonly string[] | undefined
  /** Empty if the request sent none, absent if that is unknown. */
  readonly userAgent?: string | undefined
  /** Zero if the client left before the response. */
  readonly status: number
  readonly bytesReceived?: number | undefined
  readonly bytesSent?: number | undefined
  readonly milliseconds: number
  readonly inspectionMilliseconds?: number | undefined
  readonly asn?: number | undefined
  readonly asName?: string | undefined
  readonly country?: string | undefined
  readonly region?: string | undefined
  readonly regionUnknown?: string | undefined
  /** The crawler that the request claims to be, and the outcome of that claim. */
  readonly crawler?: string | undefined
  readonly crawlerOutcome?: string | undefined
  /** Names the operator that runs the crawler. */
  readonly operator?: string | undefined
  readonly identity?: string | undefined
  readonly identityVerified?: boolean | undefined
  /** The application says who the visitor is: its own id, and the plan. */
  readonly user?: string | undefined
  readonly plan?: string | undefined
  /** Only events of accounts have these members; their identifiers are keyed hashes. */
  readonly event?: string | undefined
  readonly outcome?: string | undefined
  readonly identifiers?: readonly string[] | undefined
  readonly facts?: readonly string[] | undefined
  /** Lists the ids of all evidence for the decision. */
  readonly reasons?: readonly string[] | undefined
  /** The data set that decided the network class, and its date. */
  readonly source?: string | undefined
  readonly sourceDate?: string | undefined
  /** The oldest source that the decision depends on, and the last day on which its data were known to be current. */
  readonly oldestSource?: string | undefined
  readonly oldestDate?: string | undefined
  /** Lists sources that did not answer. */
  readonly degraded?: readonly string[] | undefined
  /** `origin`, `host`, `api`, `refusal`; `check` for a request that was described to the API, `event` for an event of an account. */
  readonly answeredBy: string
  /** Says why a request was refused without a decision. */
  readonly refusedFor?: string | undefined
}

/** Counts characters; a longer text is cut and ends in `…`. */
const LONGEST = {
  requestId: 128,
  host: 255,
  method: 32,
  path: 1024,
  userAgent: 400,
  asName: 100,
  user: 128,
  call: 128,
  calls: 20,
  reason: 200,
} as const

/** Writes the line of an observed request; `client` is the address in the form that the log permits. */
export function writeLine(observed: ObservedRequest, client: string | undefined): LogLine {
  const { decision, challenge, payment, inspectionMilliseconds, userAgent } = observed
  const degraded = [...(decision?.inspection.degraded ?? []), ...(challenge?.degraded ? ['challenge'] : [])]
  return {
    time: decision?.inspection.at ?? new Date(observed.at).toISOString(),
    requestId: safe(observed.id, LONGEST.requestId),
    ...(decision && decided(decision)),
    ...(challenge && challenged(challenge)),
    ...(payment && describePayment(payment)),
    client,
    ja4: observed.ja4,
    ja4Header: observed.ja4Header,
    method: safe(observed.method, LONGEST.method),
    host: safe(observed.host, LONGEST.host),
    path: safe(observed.path, LONGEST.path),
    userAgent: userAgent && safe(userAgent, LONGEST.userAgent),
    status: observed.status,
    bytesReceived: observed.bytesReceived,
    bytesSent: observed.bytesSent,
    milliseconds: rounded(observed.milliseconds),
    inspectionMilliseconds: inspectionMilliseconds === undefined ? undefined : rounded(inspectionMilliseconds),
    degraded: degraded.length === 0 ? undefined : degraded,
    answeredBy: observed.answeredBy,
    refusedFor: observed.refusedFor,
  }
}

function decided(decision: NonNullable<ObservedRequest['decision']>): Partial<LogLine> {
  const { trial, reasons, inspection, limits, ban } = decision
  const { network, agent, crawler, country, region, user, plan, pass, behaviour, mcp, event } = inspection
  const { identity } = agent
  const limit = limits && tightest(limits)
  return {
    action: decision.action,
    enforced: decision.enforced,
    trial: trial?.action,
    trialRule: trial?.rule,
    rule: reasons.length === 0 ? undefined : readRule(decision),
    ban: ban?.id,
    banStrikes: ban?.strikes,
    banUntil: ban && new Date(ban.until).toISOString(),
    limitRule: limit?.rule,
    limitUsed: limit?.used,
    limitMax: limit?.max,
    limitWindow: limit?.windowMs,
    passLevel: pass?.level,
    passAge: pass?.age,
    class: agent.class,
    botProbability: agent.botProbability,
    behaviour: behaviour?.signs.length ? behaviour.signs : undefined,
    behaviourPages: behaviour?.pages,
    likeness: behaviour?.likeness,
    networkClass: network.verdict.classification,
    asn: network.asn,
    asName: network.asName && safe(network.asName, LONGEST.asName),
    country,
    region: region?.code,
    regionUnknown: region?.doubt,
    crawler: crawler?.slug,
    crawlerOutcome: crawler?.outcome,
    operator: crawler?.operator,
    identity: identity && safe(identity.name, LONGEST.host),
    identityVerified: identity?.verified,
    user: user && safe(user, LONGEST.user),
    plan: plan && safe(plan, LONGEST.user),
    mcp: mcp?.calls.length
      ? mcp.calls.slice(0, LONGEST.calls).map((call) => safe(formatCall(call), LONGEST.call))
      : undefined,
    event: event?.event,
    outcome: event?.outcome,
    identifiers: event?.identifiers,
    facts: event && listEventFacts(event),
    reasons: [...reasons, ...(event?.reasons ?? [])].map(({ id }) => id),
    source: network.source,
    sourceDate: network.sourceDate,
    oldestSource: inspection.oldest?.source,
    oldestDate: inspection.oldest?.date,
  }
}

function challenged({ outcome, rule, level, seconds }: ChallengeStep): Partial<LogLine> {
  return {
    challenge: outcome,
    challengeRule: rule,
    challengeLevel: level,
    challengeMilliseconds: seconds === undefined ? undefined : rounded(seconds * 1_000),
  }
}

function describePayment({ outcome, receipt, reason }: PaymentStep): Partial<LogLine> {
  return {
    payment: outcome,
    paymentReceipt: receipt,
    paymentReason: reason && safe(reason, LONGEST.reason),
  }
}

/** Keeps microseconds. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
}

/** Characters that terminals or viewers obey: controls, marks of direction, invisible characters, line separators. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Cuts a client's text at `longest` and escapes every character that is not displayed as itself. */
export function safe(text: string, longest: number): string {
  const bounded = text.length > longest ? `${text.slice(0, longest)}…` : text
  return bounded.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
