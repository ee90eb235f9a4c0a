import type { AnswerStatus, Counted, Decision, InspectionRequest } from '@sallyport/core'
import { wantedRequest } from '../challenge/places.ts'
import type { ReceivedHead } from '../request/inspection-request.ts'
import type { Observation } from '../request/observation.ts'
import type { RequestHost } from '../request/request-host.ts'
import { noteDecision } from './observation.ts'

/** Counts decided requests, as `open()` resolves to; a stand-in may leave it out, and then nothing is counted. */
export interface CountingHost extends RequestHost {
  /** Counts a request by the rules that count; the decision as it is after that. Absent: nothing is counted. */
  count?(decision: Decision, fields?: readonly string[]): Counted | Promise<Counted>
}

/** The place where a decided request is answered, and how that ends. */
export interface Answering {
  readonly observation: Observation
  /** Calls it when the answer has ended, at once where it has. */
  onEnd(ended: () => void): void
  status(): AnswerStatus
}

/**
 * Decides about a head, counts it in the one step after that, and notes the decision: for every host, the proxy among
 * them (D358). At once where the counts are in memory, else a promise. A decision that cannot be counted stands as it is,
 * and a process warning says so. Throws what `decide` throws.
 */
export function decideHead(
  host: CountingHost,
  decider: { decide(request: InspectionRequest): Decision },
  head: ReceivedHead,
  answering: Answering,
): Decision | Promise<Decision> {
  const { head: wanted, counts } = wantedRequest(host, head)
  const decision = decider.decide(wanted)
  if (host.count === undefined || !counts) return noted(decision, answering)
  try {
    const counted = host.count(decision, head.fields)
    if (!(counted instanceof Promise)) return followed(counted, answering)
    return counted.then(
      (later) => followed(later, answering),
      (error: unknown) => uncounted(decision, answering, error),
    )
  } catch (error) {
    return uncounted(decision, answering, error)
  }
}

function followed({ decision, ended }: Counted, answering: Answering): Decision {
  if (ended !== undefined) answering.onEnd(() => ended(answering.status(), answering.observation.challenge))
  return noted(decision, answering)
}

function uncounted(decision: Decision, answering: Answering, error: unknown): Decision {
  process.emitWarning(`A request passed uncounted: ${error}`, 'SallyportWarning')
  return noted(decision, answering)
}

function noted(decision: Decision, { observation }: Answering): Decision {
  noteDecision(observation, decision)
  return decision
}
