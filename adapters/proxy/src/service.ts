import { type ChallengeLevel, createHandoffSigner } from '@sallyport/core'
import type { Limits, Timeouts } from '@sallyport/engine/limits'
import { refusal } from '@sallyport/node/internal'
import { type AdmissionOptions, createAdmission } from './bounds/admission.ts'
import { watchOverload } from './bounds/overload.ts'
import { Slots } from './bounds/slots.ts'
import { answerWith, limitRefusal } from './exchange/answers.ts'
import { passHints } from './exchange/early-hints.ts'
import type { Exchange, Holder } from './exchange/exchange.ts'
import type { Refusals } from './exchange/refusals.ts'
import type { GateOptions, GateServices, ProxyHost } from './gate/options.ts'
import { createOriginRobots, type OriginRobots } from './gate/origin-robots.ts'
import { createGate } from './gate/phases.ts'
import { openSites, type Route, type Site } from './gate/sites.ts'
import { stepUp } from './gate/step-up.ts'
import type { Served } from './listener/listener.ts'
import { originAddress } from './origin/address.ts'
import { ownConnection } from './origin/connection-auth.ts'
import { clientReason, explained, failureOf, faultOf } from './origin/faults.ts'
import type { Member } from './origin/members.ts'
import type { RelayHooks } from './origin/relay.ts'
import type { OriginTurns } from './origin/turns.ts'
import { openTunnel } from './tunnel/upgrade.ts'

export interface ServiceOptions extends GateOptions {
  /** The origin of all that no route has; absent: 404 for that. */
  readonly upstream?: string | undefined
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly routes?: readonly Route[] | undefined
  readonly onOriginFailure?: ((error: Error) => void) | undefined
  /** Learns which servers of origins take no requests. */
  readonly turns?: OriginTurns | undefined
}

/** Requests and tunnels that have a slot or wait for one, and requests that wait for a connection to the origin. */
export interface ServiceLoad {
  readonly requests: Slots['load']
  readonly tunnels: Slots['load']
  readonly originQueue: number
  /** The requests in flight, or the longest queue of an origin, as a share of their limits: the higher. */
  readonly share: number
}

/** The handling of requests by one configuration; a reload takes another. */
export interface Service extends Served {
  /** The origin of what no route has. */
  readonly upstream: string | undefined
  /** Servers of origins. */
  members(): readonly Member[]
  /** The robots.txt of its origins. */
  readonly robots: OriginRobots
  /** Its load now. */
  load(): ServiceLoad
  /** Cuts the connections to the origin once its last request has ended; it gets no other. */
  retire(): void
  /** Cuts the connections to the origin. */
  close(): Promise<void>
}

/** Throws `invalid_config` and `invalid_policy`, and then nothing is left open. */
export function createService(sallyport: ProxyHost, options: ServiceOptions, refusals: Refusals): Service {
  const { upstream, limits, timeouts, routes = [] } = options
  const { decider } = sallyport
  // Before anything is opened: it throws where a key cannot be used.
  const handoff = createHandoffSigner(options.handoff?.keys ?? [])
  const sites = openSites({
    upstream,
    routes,
    limits,
    timeouts,
    onNotice: options.onNotice,
    turns: options.turns,
    decider: decider && ((rules) => decider.call(sallyport, rules)),
    decide: (request) => sallyport.decide(request),
  })
  const parts = { host: sallyport, options: withDenials(options), sites, routes, handoff }
  const overload = watchOverload(limits)

  const requestSlots = new Slots({
    total: limits.inFlight,
    perClient: limits.inFlightPerClient,
    waitMs: timeouts.queue,
  })
  const tunnelSlots = new Slots({ total: limits.tunnels, perClient: limits.tunnelsPerClient, waitMs: timeouts.queue })
  const admission = (cause: AdmissionOptions['cause'], slots: Slots) =>
    createAdmission({
      slots,
      cause,
      ipv6Prefix: limits.ipv6Prefix,
      bodyBytes: limits.bodyBytes ?? Number.POSITIVE_INFINITY,
      refusals,
      isOverloaded: (waitedMs) => overload.present || waitedMs > limits.eventLoopDelay,
    })
  const fail = (exchange: Exchange, failure: Error): void => {
    const error = explained(failure, limits)
    options.onOriginFailure?.(error)
    sallyport.meter?.add('originFailures', [faultOf(error)])
    answerWith(exchange, refusal(failureOf(error), undefined, clientReason(error)), 'origin')
  }

  const onConflict = (name: string): void => sallyport.meter?.add('fieldConflicts', [name])

  const hooks: RelayHooks = {
    onFailure: fail,
    onRefused(exchange, cause) {
      refusals.count(cause)
      answerWith(exchange, limitRefusal(cause), cause)
    },
    onConflict,
    onHints: passHints,
  }
  const forward: GateServices['forward'] = (exchange, handed, site) => {
    const { stream, ownHost } = site
    const onAsked = decider && ((level: ChallengeLevel): boolean => stepUp(sallyport, exchange, site.stepUp(level)))
    const owner = ownConnection(exchange, sallyport)
    const { client } = exchange
    // A spread of what is handed would cost as much as the decision.
    const { fields, sign } = handed
    originFor(exchange, site)?.forward({ fields, sign, exchange, client, owner, stream, ownHost, onAsked }, hooks)
  }
  const openWebSocket: GateServices['forward'] = (exchange, handed, site) => {
    const { ownHost } = site
    const origin = originFor(exchange, site)
    if (origin === undefined) return
    const onFailure = (error: Error): void => fail(exchange, error)
    openTunnel(origin, { ...handed, exchange, ownHost, onFailure, onConflict }, { ...timeouts, ...site.timeouts })
  }
  const onRequest = createGate({ ...parts, admission: admission('in_flight', requestSlots), forward })
  const onUpgrade = createGate({ ...parts, admission: admission('tunnels', tunnelSlots), forward: openWebSocket })

  const { origins } = sites
  const robots = createOriginRobots(sites, { timeouts, onNotice: options.onNotice })
  const close = async (): Promise<void> => {
    overload.close()
    robots.close()
    await Promise.all(origins.map((origin) => origin.close()))
  }
  const inFlight = createInFlight()
  return {
    upstream: upstream && originAddress(upstream).text,
    robots,
    members: () => origins.flatMap(({ members }) => members.all),
    load: () => ({
      requests: requestSlots.load,
      tunnels: tunnelSlots.load,
      originQueue: origins.reduce((sum, { queued }) => sum + queued, 0),
      share: Math.max(
        requestSlots.load.used / limits.inFlight,
        ...origins.map(({ queued }) => queued / Math.max(1, limits.originQueue)),
      ),
    }),
    limits,
    timeouts,
    onRequest: (exchange) => onRequest(inFlight.add(exchange)),
    onUpgrade: (exchange) => onUpgrade(inFlight.add(exchange)),
    retire() {
      overload.close()
      robots.close()
      for (const origin of origins) origin.stopChecks()
      inFlight.onceNone(() => void close())
    },
    close,
  }
}

/** Options with a line for the operator about the first check of another server that was refused. */
function withDenials<Options extends GateOptions>(options: Options): Options {
  let isTold = false
  const onDenied = (why: string): void => {
    if (!isTold) options.onNotice?.(`forward-auth: refused a check: ${why}`)
    isTold = true
  }
  return { ...options, onDenied }
}

/** The origin of a request; one that has none is answered with 404. */
function originFor(exchange: Exchange, { origin }: Site): Site['origin'] {
  if (origin === undefined) answerWith(exchange, refusal('not_found'), 'no_origin')
  return origin
}

/** Counts exchanges from their begin to their end: one may wait for a count or for its turn long before it is forwarded. */
function createInFlight() {
  let count = 0
  let onNone = (): void => {}
  const service: Holder = {
    left() {
      count--
      if (count === 0) onNone()
    },
  }
  return {
    add(exchange: Exchange): Exchange {
      if (exchange.ended) return exchange
      count++
      exchange.service = service
      return exchange
    },
    /** Calls it once, when there is none; no other comes then. */
    onceNone(end: () => void): void {
      if (count === 0) end()
      else onNone = end
    },
  }
}
