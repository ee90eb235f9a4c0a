import {
  type ChallengeStep,
  formatCall,
  listEventFacts,
  type ObservedRequest,
  type PaymentStep,
  readRule,
  tightest,
} from '@sallyport/core'
import type { LogLine } from './fields.ts'

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
