import type { Counted, Decision, InspectionRequest, Mode, MountPolicy } from '@sallyport/core'
import { SallyportError } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import type { RequestHost } from './request/request-host.ts'

/** Counts decided requests, as the value of `open()` does; without `count` nothing is counted. */
export interface CountingHost extends RequestHost {
  /** Counts a request by the rules that count, and returns the decision after that. Absent: nothing is counted. */
  count?(decision: Decision, fields?: readonly string[]): Counted | Promise<Counted>
  /** Decides, and waits a moment while the check of a claimed crawler runs. Absent: no request waits. */
  settle?(decide: () => Decision): Decision | Promise<Decision>
}

/** Decides about a head. */
export interface HeadDecider {
  /** Judges a request at once, from memory; never throws. */
  decide(request: InspectionRequest): Decision
  /** Reports whether a rule reads the MCP calls that the request may have in its body; absent: no rule does. */
  readsCalls?(request: InspectionRequest): boolean
  /** Resolves when the data that the rules read is open; absent: the data is open. */
  readonly opening?: Promise<void> | undefined
}

/** Decides about requests: the value that `open()` resolves to, or a stand-in. */
export interface Decider extends CountingHost, HeadDecider {
  /** Creates the decider of one mount; a stand-in without it takes no `policy` and no `mode`. */
  decider?(options: MountRules): HeadDecider
}

/** Rules that decide at one mount in place of the service's own. */
export interface MountRules {
  readonly policy?: MountPolicy | undefined
  readonly mode?: Mode | undefined
}

/** The visitor, as rules and logs name it. */
export interface RequestIdentity {
  readonly user?: string | undefined
  readonly plan?: string | undefined
}

/** Holds the outcome for a request: a refusal ends it, and without one the host carries on. */
export interface Outcome {
  /** Absent when the request could not be judged. */
  readonly decision?: Decision | undefined
  readonly refusal?: ApiResponse | undefined
}

/** Throws `invalid_config` at start-up: without `decide`, as by a forgotten `await`, nothing would be inspected. */
export function requireDecider(decider: Decider): void {
  if (typeof decider?.decide !== 'function') {
    throw new SallyportError(
      'invalid_config',
      'Inspection takes the value that open() resolves to. Is an await missing?',
    )
  }
}
