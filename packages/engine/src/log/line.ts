import { type ChallengeStep, type ObservedRequest, ruleOf, tightest, type Writable } from '@sallyport/core'

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
  const { decision } = observed
  const line: Writable<LogLine> = {
    time: decision?.inspection.at ?? new Date(observed.at).toISOString(),
    requestId: safe(observed.id, LONGEST.requestId),
    method: safe(observed.method, LONGEST.method),
    host: safe(observed.host, LONGEST.host),
    path: safe(observed.path, LONGEST.path),
    status: observed.status,
    milliseconds: rounded(observed.milliseconds),
    answeredBy: observed.answeredBy,
  }
  if (client !== undefined) line.client = client
  if (observed.userAgent !== undefined) line.userAgent = safe(observed.userAgent, LONGEST.userAgent)
  if (observed.ja4 !== undefined) line.ja4 = observed.ja4
  if (observed.bytesReceived !== undefined) line.bytesReceived = observed.bytesReceived
  if (observed.bytesSent !== undefined) line.bytesSent = observed.bytesSent
  if (observed.refusedFor !== undefined) line.refusedFor = observed.refusedFor
  if (observed.inspectionMilliseconds !== undefined) {
    line.inspectionMilliseconds = rounded(observed.inspectionMilliseconds)
  }
  if (decision !== undefined) addDecision(line, decision)
  if (observed.challenge !== undefined) addChallenge(line, observed.challenge)
  return line
}

function addDecision(line: Writable<LogLine>, decision: NonNullable<ObservedRequest['decision']>): void {
  const { trial, reasons, inspection, limits, ban } = decision
  const { network, agent, crawler, country, degraded, user, plan, pass } = inspection
  line.action = decision.action
  line.enforced = decision.enforced
  line.class = agent.class
  line.botProbability = agent.botProbability
  line.networkClass = network.verdict.classification
  const [rule] = reasons
  if (rule !== undefined) line.rule = ruleOf(decision)
  if (trial !== undefined) {
    line.trial = trial.action
    line.trialRule = trial.rule
  }
  if (ban !== undefined) {
    line.ban = ban.id
    line.banStrikes = ban.strikes
    line.banUntil = new Date(ban.until).toISOString()
  }
  const limit = limits && tightest(limits)
  if (limit !== undefined) {
    line.limitRule = limit.rule
    line.limitUsed = limit.used
    line.limitMax = limit.max
    if (limit.windowMs !== undefined) line.limitWindow = limit.windowMs
  }
  if (pass !== undefined) {
    line.passLevel = pass.level
    line.passAge = pass.age
  }
  if (network.asn !== undefined) line.asn = network.asn
  if (network.asName !== undefined) line.asName = safe(network.asName, LONGEST.asName)
  if (country !== undefined) line.country = country
  if (crawler !== undefined) {
    line.crawler = crawler.slug
    line.crawlerOutcome = crawler.outcome
    line.operator = crawler.operator
  }
  if (agent.identity !== undefined) {
    line.identity = safe(agent.identity.name, LONGEST.host)
    line.identityVerified = agent.identity.verified
  }
  if (user !== undefined) line.user = safe(user, LONGEST.user)
  if (plan !== undefined) line.plan = safe(plan, LONGEST.user)
  line.reasons = reasons.map(({ id }) => id)
  if (network.source !== undefined) line.source = network.source
  if (network.sourceDate !== undefined) line.sourceDate = network.sourceDate
  if (degraded.length > 0) line.degraded = degraded
}

function addChallenge(line: Writable<LogLine>, { outcome, rule, level, seconds, degraded }: ChallengeStep): void {
  line.challenge = outcome
  if (rule !== undefined) line.challengeRule = rule
  if (level !== undefined) line.challengeLevel = level
  if (seconds !== undefined) line.challengeMilliseconds = rounded(seconds * 1_000)
  if (degraded) line.degraded = [...(line.degraded ?? []), 'challenge']
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
