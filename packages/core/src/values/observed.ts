import { ACTIONS } from '../vocabulary.ts'
import type { RequestTraits } from './behaviour.ts'
import type { ChallengeStep } from './challenge.ts'
import type { Decision } from './decision.ts'
import type { PaymentStep } from './offer.ts'
import type { InspectionRequest } from './request.ts'

/** Holds the outcome of one request, for logs, metrics and spans. */
export interface ObservedRequest extends Pick<InspectionRequest, 'method' | 'ja4' | 'ja4Header'> {
  /** The response, the log line and errors have this id. */
  readonly id: string
  /** Absent where nothing was decided: a head that was refused, a call of the API. */
  readonly decision?: Decision | undefined
  /**
   * `origin`: forwarded. `host`: the application around an adapter, or the server that asked before it forwards. `refusal`: a block, or a
   * limit of ours. `check`: nobody; the request was described to `POST /v1/agentscan/check`, and has the id that its caller named. `event`:
   * the application asked about an event of an account.
   */
  readonly answeredBy: 'origin' | 'host' | 'api' | 'refusal' | 'check' | 'event'
  /** The socket has this address, and the client was resolved from it. */
  readonly peer: string
  readonly client: string
  /** The host is as in the Host field; '' where there was none. */
  readonly host: string
  /** The path has no query. */
  readonly path: string
  /** Names the AI service whose answer led here, by its Referer or `utm_source`; absent where none is named. */
  readonly cameFrom?: string | undefined
  /** As the client sent it, cut where it is long; '' where there was none, and absent where it is unknown. */
  readonly userAgent?: string | undefined
  /** Holds what counts of it in its visit; absent where the host does not see the response, or Sallyport responded. */
  readonly traits?: RequestTraits | undefined
  /** 0 means that the client left before anything was sent. */
  readonly status: number
  /** Counts bytes on its connection, after its head and until its response ended; over HTTP/2 only of the body. Absent where unknown. */
  readonly bytesReceived?: number | undefined
  /** In bytes, of the head and the body; over HTTP/2 of the body alone. Absent where `bytesReceived` is. */
  readonly bytesSent?: number | undefined
  /** The request began then, in milliseconds since the epoch. */
  readonly at: number
  /** Measures the time from its head to the end of its response. */
  readonly milliseconds: number
  /** Measures the part of that until the decision. */
  readonly inspectionMilliseconds?: number | undefined
  /** Says why a request was refused without a decision. */
  readonly refusedFor?: string | undefined
  readonly challenge?: ChallengeStep | undefined
  readonly payment?: PaymentStep | undefined
}

/** Receives every request once, when its response has ended. Does not wait, and does not throw. */
export type Observe = (observed: ObservedRequest) => void

/** Names the outcome of a request: the action, or the responder where nothing was decided. */
export const OUTCOMES = [...ACTIONS, 'api', 'refused'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Returns the outcome. A challenge that the client cannot show counts as a block in metrics, tallies, spikes and the console. */
export function describeOutcome({
  decision,
  answeredBy,
  challenge,
}: Pick<ObservedRequest, 'decision' | 'answeredBy' | 'challenge'>): Outcome {
  if (decision !== undefined) return challenge?.outcome === 'program' ? 'block' : decision.action
  return answeredBy === 'api' ? 'api' : 'refused'
}

/** Returns the id of the rule that decided, as the policy has it; '' where none did. */
export function readRule({ reasons: [rule] }: Pick<Decision, 'reasons'>): string {
  const id = rule?.id ?? ''
  return id.startsWith(POLICY) ? id.slice(POLICY.length) : id
}

const POLICY = 'policy:'
