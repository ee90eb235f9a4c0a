import { ACTIONS } from '../vocabulary.ts'
import type { ChallengeStep } from './challenge.ts'
import type { Decision } from './decision.ts'

/** Outcome of one request: source of logs, metrics and spans. */
export interface ObservedRequest {
  /** Id in its answer, its log line and its errors. */
  readonly id: string
  /** Absent where nothing was decided: a head that was refused, a call of the API. */
  readonly decision?: Decision | undefined
  /**
   * `origin`: forwarded. `host`: the application around an adapter, or the server that asked before it forwards. `refusal`: a block, or a limit of ours. `check`: nobody,
   * it was described to `POST /v1/agentscan/check`, which has the id that its caller named.
   */
  readonly answeredBy: 'origin' | 'host' | 'api' | 'refusal' | 'check'
  /** Socket address, and the client that was resolved from it. */
  readonly peer: string
  readonly client: string
  /** JA4 of a client that connects directly by TLS. */
  readonly ja4?: string | undefined
  readonly method: string
  /** As in the Host field; '' where there was none. */
  readonly host: string
  /** Without its query. */
  readonly path: string
  /** Name of the AI service whose answer led here, by its Referer or `utm_source`; absent where none is named. */
  readonly cameFrom?: string | undefined
  /** As it was sent, its beginning alone where it is long; '' where there was none, and absent where nobody knows. */
  readonly userAgent?: string | undefined
  /** 0: the client left before anything was sent. */
  readonly status: number
  /** In bytes, on its connection, after its head and until its answer ended; over HTTP/2 of the body alone. Absent where nobody knows. */
  readonly bytesReceived?: number | undefined
  /** In bytes, of the head and the body; over HTTP/2 of the body alone. Absent where `bytesReceived` is. */
  readonly bytesSent?: number | undefined
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
  /** From its head to the end of its answer. */
  readonly milliseconds: number
  /** The part of that until the decision. */
  readonly inspectionMilliseconds?: number | undefined
  /** Cause of a refusal without a decision. */
  readonly refusedFor?: string | undefined
  /** Its part in a challenge; absent where it was not challenged and brought no solution. */
  readonly challenge?: ChallengeStep | undefined
}

/** Learns of every request once, when its answer has ended. Does not wait, and does not throw. */
export type Observe = (observed: ObservedRequest) => void

/** Outcome of a request: the action, or who answered what was not decided. */
export const OUTCOMES = [...ACTIONS, 'api', 'refused'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** A challenge that the client cannot show refuses the request, and counts as a block in metrics, tallies, spikes and the console. */
export function outcomeOf({
  decision,
  answeredBy,
  challenge,
}: Pick<ObservedRequest, 'decision' | 'answeredBy' | 'challenge'>): Outcome {
  if (decision !== undefined) return challenge?.outcome === 'program' ? 'block' : decision.action
  return answeredBy === 'api' ? 'api' : 'refused'
}

/** The id of the rule that decided, as the policy has it; '' where none did. */
export function ruleOf({ reasons: [rule] }: Pick<Decision, 'reasons'>): string {
  const id = rule?.id ?? ''
  return id.startsWith(POLICY) ? id.slice(POLICY.length) : id
}

const POLICY = 'policy:'
