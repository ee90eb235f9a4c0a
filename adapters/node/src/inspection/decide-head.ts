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
  /** Decides, and waits a moment where the check of a claimed crawler runs. Absent: nothing waits. */
  settle?(decide: () => Decision): Decision | Promise<Decision>
}

/** The place where a decided request is answered, and how that ends. */
export interface Answering {
  readonly observation: Observation
  /** Calls it when the answer has ended, at once where it has. */
  onEnd(ended: () => void): void
  status(): AnswerStatus
  /** The value of Content-Type in the answer. */
  contentType(): string | undefined
}

/**
 * Decides about a head, counts it in the one step after that, and notes the decision: for every host, the proxy among
 * them (D358). At once where the counts are in memory and no check of a crawler runs, else a promise. A decision that cannot be counted stands as it is,
 * and a process warning says so. Throws what `decide` throws.
 */
export function decideHead(
  host: CountingHost,
  decider: { decide(request: InspectionRequest): Decision },
  head: ReceivedHead,
  answering: Answering,
): Decision | Promise<Decision> {
  const { head: wanted, counts } = wantedRequest(host, head)
  const settled = settledDecision(host, () => decider.decide(wanted))
  const go = (decision: Decision) => counted(counts ? host : {}, decision, head.fields, answering)
  return settled instanceof Promise ? settled.then(go) : go(settled)
}

/** The decision of every host about a request, once a check of its crawler is over or was waited for. */
export function settledDecision(
  host: Pick<CountingHost, 'settle'>,
  decide: () => Decision,
): Decision | Promise<Decision> {
  return host.settle === undefined ? decide() : host.settle(decide)
}

function counted(
  host: Pick<CountingHost, 'count'>,
  decision: Decision,
  fields: readonly string[],
  answering: Answering,
): Decision | Promise<Decision> {
  if (host.count === undefined || decision.unready) return noted(decision, answering)
  try {
    const taken = host.count(decision, fields)
    if (!(taken instanceof Promise)) return followed(taken, answering)
    return taken.then(
      (later) => followed(later, answering),
      (error: unknown) => uncounted(decision, answering, error),
    )
  } catch (error) {
    return uncounted(decision, answering, error)
  }
}

function followed({ decision, ended }: Counted, answering: Answering): Decision {
  if (ended !== undefined) {
    answering.onEnd(() => ended(answering.status(), answering.observation.challenge, answering.contentType()))
  }
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
