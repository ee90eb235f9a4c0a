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

/** Payload of `sallyport.decision`, which is published for each decided request. */
export interface DecisionEvent {
  readonly decision: Decision
  /** Holds Node's request, or a web request in hosts without Node's. */
  readonly request: object
}

/** Payload of `sallyport.refusal`, which is published when a request ends here; `decision` is absent for a refused head. */
export interface RefusalEvent {
  readonly decision: Decision | undefined
  /** The HTTP status that the client gets. */
  readonly status: number
  readonly request: object
}

const DECISIONS = channel('sallyport.decision')
const REFUSALS = channel('sallyport.refusal')

/** Names the reasons of a decision in the answer where `explain` is on. */
const REASONS = 'Sallyport-Reasons'

/**
 * Creates the inspection of one mount, as every host runs it; hooks receive `request`, the host's own. The inspection never throws: when a
 * decider fails, the request passes without a verdict, because classification is not authorisation, and `onError` receives the error.
 * Throws `invalid_config` and `invalid_policy` at start-up; `others` names the host's own options.
 */
export function createInspection<Place, Request>(
  receiver: Receiver<Place>,
  sallyport: Decider,
  options: InspectionOptions<Request> = {},
  others: readonly string[] = [],
): (place: Place, request: Request) => Outcome | Promise<Outcome> {
  requireDecider(sallyport)
  checkOptions(options, others)
  const attester = requireAttester(sallyport, options)
  if (options.identify === undefined) warnUncounted(options.policy ?? sallyport.config?.policy)
  const hooks = createHooks(options)
  const decider = chooseDecider(sallyport, options)
  const common = { precheck, route, inspect, decide, answer }
  const run = createPipeline<Exchange, { readonly host: Decider }>(common, { host: decider })
  const runAttesting =
    attester && createPipeline({ ...common, decide: attest }, { host: decider as Decider & typeof attester })

  function passFailed(error: unknown, place: Place, request: Request): Outcome {
    hooks.report(error, request)
    receiver.mark(place, undefined)
    return {}
  }

  function finish(exchange: Exchange, answered: Answered, place: Place, request: Request): Outcome | Promise<Outcome> {
    const { decision } = exchange
    receiver.mark(place, decision)
    // Only adapters inspect this way: the request of the proxy is its exchange.
    const own = exchange.request as DecisionEvent['request']
    if (decision !== undefined) {
      hooks.onDecision(decision, request)
      if (DECISIONS.hasSubscribers) DECISIONS.publish({ decision, request: own } satisfies DecisionEvent)
      if (options.explain) exchange.setField(REASONS, writeReasons(decision))
    }
    if (answered === undefined) return decision === undefined ? {} : { decision }
    // An application cannot put a challenge into its own words.
    const isRefused = decision?.enforced === true && refuses(decision.action) && decision.action !== 'challenge'
    const rendered = isRefused ? hooks.rendered(answered, decision, request) : answered
    const conclude = (sent: ApiResponse): Outcome => {
      const { status } = sent
      if (REFUSALS.hasSubscribers) REFUSALS.publish({ decision, status, request: own } satisfies RefusalEvent)
      const explained = options.explain && decision !== undefined
      const headers = explained ? { ...sent.headers, [REASONS]: writeReasons(decision) } : sent.headers
      return { ...(decision && { decision }), refusal: { ...sent, headers } }
    }
    return rendered instanceof Promise ? rendered.then(conclude) : conclude(rendered)
  }

  return (place, request) => {
    if (hooks.isSkipped(request)) {
      receiver.mark(place, undefined)
      return {}
    }
    const identity = hooks.findIdentity(request)
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
        (error: unknown) => passFailed(error, place, request),
      )
    } catch (error) {
      return passFailed(error, place, request)
    }
  }
}

/** Warns of a rule that counts by user where the host names no user: the rule would never act. */
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

/** Returns the Sallyport of a mount. Whatever the mount does not set itself follows the service, at each request. */
function chooseDecider(sallyport: Decider, { policy, mode }: InspectionOptions<never>): Decider {
  if (policy === undefined && mode === undefined) return sallyport
  if (typeof sallyport.decider !== 'function') {
    throw new SallyportError('invalid_config', 'Inspection: policy and mode need the value that open() resolves to.')
  }
  const decider = sallyport.decider({ policy, mode })
  const { decide, readsCalls } = decider
  const own: PropertyDescriptorMap = {
    decide: { value: decide },
    readsCalls: { value: readsCalls },
    opening: { get: () => decider.opening },
  }
  if (mode !== undefined) own['config'] = { get: () => ({ ...sallyport.config, mode }) }
  return Object.create(sallyport, own) as Decider
}

function writeReasons({ reasons }: Decision): string {
  return reasons.map(({ id }) => id).join(', ')
}
