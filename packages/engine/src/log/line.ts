import { type ChallengeStep, type ObservedRequest, ruleOf, tightest } from '@sallyport/core'

/**
 * One line of the decision log: what is known of one request. A member that is not known is absent. Times are
 * milliseconds but `time`, which is ISO 8601 in UTC; addresses are as `log.addresses` has them.
 */
export interface LogLine {
  readonly time: string
  readonly requestId: string
  readonly action?: string | undefined
  /** False where monitor mode did not carry the action out. */
  readonly enforced?: boolean | undefined
  /** The action that a rule on trial would have taken, and its id. */
  readonly trial?: string | undefined
  readonly trialRule?: string | undefined
  /** The rule that decided. */
  readonly rule?: string | undefined
  /** The ban that refused or challenged its client: its id, its strikes by their word, and its end, ISO 8601 in UTC. */
  readonly ban?: string | undefined
  readonly banStrikes?: readonly string[] | undefined
  readonly banUntil?: string | undefined
  /** The limit that left least room: its rule, where the request stood, what fits, and in how many milliseconds. */
  readonly limitRule?: string | undefined
  readonly limitUsed?: number | undefined
  readonly limitMax?: number | undefined
  /** Absent: requests in flight. */
  readonly limitWindow?: number | undefined
  /** Outcome of the request's part in a challenge, the rule that asked, its level, and how long its answer took. */
  readonly challenge?: string | undefined
  readonly challengeRule?: string | undefined
  readonly challengeLevel?: number | undefined
  readonly challengeMilliseconds?: number | undefined
  /** The pass that it brought, and its age in seconds. */
  readonly passLevel?: number | undefined
  readonly passAge?: number | undefined
  /** Class of the client: human, ai_agent … */
  readonly class?: string | undefined
  /** 0 to 1, that it is a program. */
  readonly botProbability?: number | undefined
  readonly networkClass?: string | undefined
  readonly client?: string | undefined
  readonly ja4?: string | undefined
  readonly method: string
  readonly host: string
  /** Without its query. */
  readonly path: string
  /** Empty where none was sent, absent where nobody knows. */
  readonly userAgent?: string | undefined
  /** 0: the client left first. */
  readonly status: number
  readonly bytesReceived?: number | undefined
  readonly bytesSent?: number | undefined
  readonly milliseconds: number
  readonly inspectionMilliseconds?: number | undefined
  readonly asn?: number | undefined
  readonly asName?: string | undefined
  readonly country?: string | undefined
  /** The crawler that the request says it is, and what came of that. */
  readonly crawler?: string | undefined
  readonly crawlerOutcome?: string | undefined
  /** Operator of that crawler. */
  readonly operator?: string | undefined
  readonly identity?: string | undefined
  readonly identityVerified?: boolean | undefined
  /** The visitor by the application's word: its own id, and the plan. */
  readonly user?: string | undefined
  readonly plan?: string | undefined
  /** Ids of all that the decision rests on. */
  readonly reasons?: readonly string[] | undefined
  /** The data set that decided the network class, and its date. */
  readonly source?: string | undefined
  readonly sourceDate?: string | undefined
  /** Sources that could not be asked. */
  readonly degraded?: readonly string[] | undefined
  /** `origin`, `host`, `api`, `refusal`; `check` for a request that was described to the API. */
  readonly answeredBy: string
  /** Cause of a refusal without a decision. */
  readonly refusedFor?: string | undefined
}

/** In characters; what is longer ends in `…`. */
const LONGEST = { requestId: 128, host: 255, method: 32, path: 1024, userAgent: 400, asName: 100, user: 128 } as const

/** The line of an observed request; `client` is its address as it may be written down. */
export function lineOf(observed: ObservedRequest, client: string | undefined): LogLine {
  const { decision, challenge, inspectionMilliseconds, userAgent } = observed
  const degraded = [...(decision?.inspection.degraded ?? []), ...(challenge?.degraded ? ['challenge'] : [])]
  return {
    time: decision?.inspection.at ?? new Date(observed.at).toISOString(),
    requestId: safe(observed.id, LONGEST.requestId),
    ...(decision && decided(decision)),
    ...(challenge && challenged(challenge)),
    client,
    ja4: observed.ja4,
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
  const { network, agent, crawler, country, user, plan, pass } = inspection
  const { identity } = agent
  const limit = limits && tightest(limits)
  return {
    action: decision.action,
    enforced: decision.enforced,
    trial: trial?.action,
    trialRule: trial?.rule,
    rule: reasons.length === 0 ? undefined : ruleOf(decision),
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
    networkClass: network.verdict.classification,
    asn: network.asn,
    asName: network.asName && safe(network.asName, LONGEST.asName),
    country,
    crawler: crawler?.slug,
    crawlerOutcome: crawler?.outcome,
    operator: crawler?.operator,
    identity: identity && safe(identity.name, LONGEST.host),
    identityVerified: identity?.verified,
    user: user && safe(user, LONGEST.user),
    plan: plan && safe(plan, LONGEST.user),
    reasons: reasons.map(({ id }) => id),
    source: network.source,
    sourceDate: network.sourceDate,
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

/** To a microsecond. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
}

/** Characters that terminals or viewers obey: controls, marks of direction, invisible characters, line separators. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A text of a client, at most so long, with every character escaped that is not shown as itself. */
export function safe(text: string, longest: number): string {
  const bounded = text.length > longest ? `${text.slice(0, longest)}…` : text
  return bounded.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
