import { channel } from 'node:diagnostics_channel'
import type { Decision, MountPolicy, Policy, Rule } from '@sallyport/core'
import { countsByUser, refuses, SallyportError } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { type Decider, type Outcome, requireDecider } from '../decider.ts'
import type { Exchange, Receiver } from '../exchange.ts'
import { answer, decide, inspect, precheck, route } from '../host-phases.ts'
import { type Answered, createPipeline } from '../phases.ts'
import { attest, readClaim, requireAttester } from './attest-request.ts'
import { createHooks } from './hooks.ts'
import { checkOptions, type InspectionOptions } from './inspection-options.ts'

/** Inspects a request of one mount; `request` is the host's own, for its hooks. Never throws; a promise where something waits. */
export type Inspect<Place, Request> = (place: Place, request: Request) => Outcome | Promise<Outcome>

/** Payload of `sallyport.decision`: a request was decided. */
export interface DecisionEvent {
  readonly decision: Decision
  /** Node's, or the web's in hosts that have no other. */
  readonly request: object
}

/** Payload of `sallyport.refusal`: a request goes no further; without a decision where its head was refused. */
export interface RefusalEvent {
  readonly decision: Decision | undefined
  /** The HTTP status that is sent. */
  readonly status: number
  readonly request: object
}

const DECISIONS = channel('sallyport.decision')
const REFUSALS = channel('sallyport.refusal')

/** Names why a request was decided so; it is in the answer where `explain` is on. */
const REASONS = 'Sallyport-Reasons'

/**
 * The inspection of one mount, as every host runs it: names a request's id in its answer and the verdict in its headers.
 * A decider that fails lets the request pass without a verdict, because classification is not authorisation, and says so
 * to `onError`. Throws `invalid_config` and `invalid_policy` at start-up; `others` are options that the host has beside ours.
 */
export function createInspection<Place, Request>(
  receiver: Receiver<Place>,
  sallyport: Decider,
  options: InspectionOptions<Request> = {},
  others: readonly string[] = [],
): Inspect<Place, Request> {
  requireDecider(sallyport)
  checkOptions(options, others)
  const attester = requireAttester(sallyport, options)
  if (options.identify === undefined) warnUncounted(options.policy ?? sallyport.config?.policy)
  const hooks = createHooks(options)
  const decider = deciderOf(sallyport, options)
  const common = { precheck, route, inspect, decide, answer }
  const run = createPipeline<Exchange, { readonly host: Decider }>(common, { host: decider })
  const runAttesting =
    attester && createPipeline({ ...common, decide: attest }, { host: decider as Decider & typeof attester })

  function failed(error: unknown, place: Place, request: Request): Outcome {
    hooks.report(error, request)
    receiver.mark(place, undefined)
    return {}
  }

  function finish(exchange: Exchange, answered: Answered, place: Place, request: Request): Outcome | Promise<Outcome> {
    const { decision } = exchange
    receiver.mark(place, decision)
    // No other host inspects by this: the proxy's own is its exchange.
    const own = exchange.request as DecisionEvent['request']
    if (decision !== undefined) {
      hooks.onDecision(decision, request)
      if (DECISIONS.hasSubscribers) DECISIONS.publish({ decision, request: own } satisfies DecisionEvent)
      if (options.explain) exchange.tell(REASONS, reasonsOf(decision))
    }
    if (answered === undefined) return decision === undefined ? {} : { decision }
    // A question is no refusal that an application could put into its own words.
    const isRefused = decision?.enforced === true && refuses(decision.action) && decision.action !== 'challenge'
    const rendered = isRefused ? hooks.rendered(answered, decision, request) : answered
    const refused = (sent: ApiResponse): Outcome => {
      const { status } = sent
      if (REFUSALS.hasSubscribers) REFUSALS.publish({ decision, status, request: own } satisfies RefusalEvent)
      const explained = options.explain && decision !== undefined
      const headers = explained ? { ...sent.headers, [REASONS]: reasonsOf(decision) } : sent.headers
      return { ...(decision && { decision }), refusal: { ...sent, headers } }
    }
    return rendered instanceof Promise ? rendered.then(refused) : refused(rendered)
  }

  return (place, request) => {
    if (hooks.isSkipped(request)) {
      receiver.mark(place, undefined)
      return {}
    }
    const identity = hooks.identityOf(request)
    const claim = readClaim(options, request)
    if (typeof claim === 'object') hooks.report(claim.fault, request)
    try {
      const exchange = receiver.receive(decider, place)
      if (identity !== undefined) exchange.subject = { ...exchange.head, ...identity }
      exchange.claim = claim
      const answered = claim !== undefined && runAttesting !== undefined ? runAttesting(exchange) : run(exchange)
      if (!(answered instanceof Promise)) return finish(exchange, answered, place, request)
      return answered.then(
        (later) => finish(exchange, later, place, request),
        (error: unknown) => failed(error, place, request),
      )
    } catch (error) {
      return failed(error, place, request)
    }
  }
}

/** A rule that counts by what the host does not give would be silent for ever. */
function warnUncounted(policy: MountPolicy | undefined): void {
  if (policy === undefined || typeof policy === 'string') return
  const { rules = [], strikes }: Partial<Policy> = isRules(policy) ? { rules: policy } : policy
  const [id] = countsByUser({ rules, strikes })
  if (id === undefined) return
  const message = `The rule "${id}" counts by user, and no identify() names the user: it counts nothing here.`
  process.emitWarning(message, { type: 'SallyportWarning', code: 'SALLYPORT_UNKNOWN_USER' })
}

function isRules(policy: MountPolicy): policy is readonly Rule[] {
  return Array.isArray(policy)
}

/** The Sallyport of a mount: what it does not say of its own is the service's, as it is at each request. */
function deciderOf(sallyport: Decider, { policy, mode }: InspectionOptions<never>): Decider {
  if (policy === undefined && mode === undefined) return sallyport
  if (typeof sallyport.decider !== 'function') {
    throw new SallyportError('invalid_config', 'Inspection: policy and mode need the value that open() resolves to.')
  }
  const { decide } = sallyport.decider({ policy, mode })
  const own: PropertyDescriptorMap = { decide: { value: decide } }
  if (mode !== undefined) own['config'] = { get: () => ({ ...sallyport.config, mode }) }
  return Object.create(sallyport, own) as Decider
}

function reasonsOf({ reasons }: Decision): string {
  return reasons.map(({ id }) => id).join(', ')
}
