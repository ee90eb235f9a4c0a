import { channel } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { ApiResponse } from '@sallyport/api'
import type { Decision, MountPolicy, Policy, Rule } from '@sallyport/core'
import { countsByUser, refuses, SallyportError } from '@sallyport/core/host'
import { applyVerdict } from '../answer/verdict-headers.ts'
import { attestRequest, claimOf, requireAttester } from './attest-request.ts'
import { type Decider, decideRequest, type Outcome, type Received, requireDecider } from './decide-request.ts'
import { createHooks } from './hooks.ts'
import { checkOptions, type InspectionOptions } from './inspection-options.ts'

/** Inspects a request of one mount; `request` is the host's own, for its hooks. A promise where something waits. */
export type Inspect<Request> = (received: Received, request: Request) => Outcome | Promise<Outcome>

/** Payload of `sallyport.decision`: a request was decided. */
export interface DecisionEvent {
  readonly decision: Decision
  readonly request: IncomingMessage
}

/** Payload of `sallyport.refusal`: a request goes no further; without a decision where its head was refused. */
export interface RefusalEvent {
  readonly decision: Decision | undefined
  /** The HTTP status that is sent. */
  readonly status: number
  readonly request: IncomingMessage
}

const DECISIONS = channel('sallyport.decision')
const REFUSALS = channel('sallyport.refusal')

/** Names why a request was decided so; it is in the answer where `explain` is on. */
const REASONS = 'Sallyport-Reasons'

/**
 * The inspection of one mount, as every host runs it. Throws `invalid_config` and `invalid_policy` at start-up; `others`
 * are options that the host has beside ours.
 */
export function createInspection<Request>(
  sallyport: Decider,
  options: InspectionOptions<Request> = {},
  others: readonly string[] = [],
): Inspect<Request> {
  requireDecider(sallyport)
  checkOptions(options, others)
  const attester = requireAttester(sallyport, options)
  if (options.identify === undefined) warnUncounted(options.policy ?? sallyport.config?.policy)
  const hooks = createHooks(options)
  const decider = deciderOf(sallyport, options)
  const attesting = attester === undefined ? undefined : (decider as typeof attester)

  function finish(outcome: Outcome, { req, res }: Received, request: Request): Outcome | Promise<Outcome> {
    const { decision, refusal } = outcome
    if (decision !== undefined) {
      hooks.onDecision(decision, request)
      if (DECISIONS.hasSubscribers) DECISIONS.publish({ decision, request: req } satisfies DecisionEvent)
      if (options.explain && res?.headersSent === false) res.setHeader(REASONS, reasonsOf(decision))
    }
    if (refusal === undefined) return outcome
    const rendered =
      decision?.enforced && refuses(decision.action) ? hooks.rendered(refusal, decision, request) : refusal
    const refused = (answer: ApiResponse): Outcome => {
      const { status } = answer
      if (REFUSALS.hasSubscribers) REFUSALS.publish({ decision, status, request: req } satisfies RefusalEvent)
      const explained = options.explain && decision !== undefined
      const headers = explained ? { ...answer.headers, [REASONS]: reasonsOf(decision) } : answer.headers
      return { ...(decision && { decision }), refusal: { ...answer, headers } }
    }
    return rendered instanceof Promise ? rendered.then(refused) : refused(rendered)
  }

  return (received, request) => {
    if (hooks.isSkipped(request)) {
      applyVerdict(received.req, undefined)
      return {}
    }
    const identity = hooks.identityOf(request)
    const onError = (error: unknown) => hooks.report(error, request)
    const asked: Received = { ...received, ...(identity && { identity }), onError }
    const claim = claimOf(options, request)
    if (attesting !== undefined && claim !== undefined) {
      return attestRequest(attesting, asked, claim).then((outcome) => finish(outcome, asked, request))
    }
    const outcome = decideRequest(decider, asked)
    if (!(outcome instanceof Promise)) return finish(outcome, asked, request)
    return outcome.then((decided) => finish(decided, asked, request))
  }
}

/** A rule that counts by what the host does not give would be silent for ever. */
function warnUncounted(policy: MountPolicy | undefined): void {
  if (policy === undefined || typeof policy === 'string') return
  const { rules = [], strikes }: Partial<Policy> = isRules(policy) ? { rules: policy } : policy
  const [id] = countsByUser({ rules, strikes })
  if (id === undefined) return
  const message = `The rule "${id}" counts by user, and no identify() says who asks: it counts nothing here.`
  process.emitWarning(message, { type: 'SallyportWarning', code: 'SALLYPORT_UNKNOWN_USER' })
}

function isRules(policy: MountPolicy): policy is readonly Rule[] {
  return Array.isArray(policy)
}

/** The Sallyport of a mount: what it does not say of its own is the service's, as it is at each request. */
function deciderOf(sallyport: Decider, { policy, mode }: InspectionOptions<never>): Decider {
  if (policy === undefined && mode === undefined) return sallyport
  if (typeof sallyport.decider !== 'function') {
    throw new SallyportError('invalid_config', 'Inspection: policy and mode take what open() resolves to.')
  }
  const { decide } = sallyport.decider({ policy, mode })
  const own: PropertyDescriptorMap = { decide: { value: decide } }
  if (mode !== undefined) own['config'] = { get: () => ({ ...sallyport.config, mode }) }
  return Object.create(sallyport, own) as Decider
}

function reasonsOf({ reasons }: Decision): string {
  return reasons.map(({ id }) => id).join(', ')
}
