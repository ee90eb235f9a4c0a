import type { Attestation, Decision } from '../values/decision.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { Action, Degraded, NetworkClass } from '../vocabulary.ts'
import { decisionOf, type Ruling } from './decide.ts'
import { inspectionOf } from './inspect.ts'
import type { Asks } from './last-look.ts'
import type { Settled, Visitor } from './visitors.ts'

/** A decision in short: what is carried out, and what is told to whoever stands behind. */
export interface RequestVerdict extends Pick<Decision, 'action' | 'enforced'> {
  readonly networkClass: NetworkClass
  /** As it is told, `AS64500`; absent when unknown. */
  readonly asn: string | undefined
  /** Country the client's address is used in; absent when unknown. */
  readonly country: string | undefined
  /** What a rule on trial would have done. */
  readonly trial: Action | undefined
  readonly attestation?: Attestation
  /** The decision, always the same one. It is made when it is asked for: of most requests nobody does. */
  decision(): Decision
}

/** The verdict of a decision that is there. */
export function verdictOf(decision: Decision): RequestVerdict {
  const { action, enforced, trial, attestation } = decision
  const { network, country } = decision.inspection
  const verdict: RequestVerdict = {
    action,
    enforced,
    networkClass: network.verdict.classification,
    asn: network.asn === undefined ? undefined : `AS${network.asn}`,
    country,
    trial: trial?.action,
    decision: () => decision,
  }
  return attestation === undefined ? verdict : { ...verdict, attestation }
}

/** A verdict, and what its decision will be made of. */
interface Late extends RequestVerdict {
  readonly ruling: Ruling
  readonly visitor: Visitor
  readonly asks: Asks
  readonly degraded: readonly Degraded[]
  readonly at: string
  readonly peer: string
  readonly method: string
  readonly target: string
  made: Decision | undefined
}

/** The verdict on a request that is ruled like the last one of its visitor: the decision is yet to be made. `at` is ISO 8601. */
export function lateVerdict(
  { peer, method, target }: InspectionRequest,
  visitor: Settled,
  degraded: readonly Degraded[],
  at: string,
): RequestVerdict {
  const { networkClass, asn, country, asks, ruling } = visitor
  const { action, enforced, trial } = ruling
  // One object, written out, without a function of its own: this runs for every request.
  const late: Late = {
    action,
    enforced,
    networkClass,
    asn,
    country,
    trial: trial?.action,
    decision,
    ruling,
    visitor,
    asks,
    degraded,
    at,
    peer,
    method,
    target,
    made: undefined,
  }
  return late
}

function decision(this: Late): Decision {
  this.made ??= decisionOf(this.ruling, inspectionOf(this, this.visitor, this.asks, this.degraded, this.at))
  return this.made
}
