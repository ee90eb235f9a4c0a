import { createHandoffSigner } from '@sallyport/core'
import { refusal } from '@sallyport/node/internal'
import { createAdmission } from './bounds/admission.ts'
import { watchOverload } from './bounds/overload.ts'
import { Slots } from './bounds/slots.ts'
import { answerWith, limitRefusal } from './exchange/answers.ts'
import { passHints } from './exchange/early-hints.ts'
import type { Exchange, Holder } from './exchange/exchange.ts'
import type { Refusals } from './exchange/refusals.ts'
import { createRequestTable } from './fields/request-fields.ts'
import type { GateOptions, GateServices, ProxyHost } from './gate/options.ts'
import { createOriginRobots } from './gate/origin-robots.ts'
import { createGate } from './gate/phases.ts'
import { METHODS } from './gate/prechecks.ts'
import { createRobots } from './gate/robots.ts'
import { openSites, type Site, type SitesOptions } from './gate/sites.ts'
import { stepUp } from './gate/step-up.ts'
import { originAddress } from './origin/address.ts'
import { ownConnection } from './origin/connection-auth.ts'
import { classifyFailure, clientReason, explained, originFault } from './origin/faults.ts'
import type { RelayHooks } from './origin/relay.ts'
import { openTunnel } from './tunnel/upgrade.ts'

export interface ServiceOptions extends GateOptions, SitesOptions {
  readonly onOriginFailure?: ((error: Error) => void) | undefined
}

/** Handles requests by one configuration; a reload creates another service. */
export type Service = ReturnType<typeof createService>

/** Creates the service; throws `invalid_config` and `invalid_policy`, and then leaves nothing open. */
export function createService(sallyport: ProxyHost, options: ServiceOptions, refusals: Refusals) {
  const { upstream, limits, timeouts } = options
  // This comes before anything is opened: it throws where a key cannot be used.
  const handoff = createHandoffSigner(options.handoff?.keys ?? [])
  const sites = openSites(sallyport, options)
  const overload = watchOverload(limits)
  const waitMs = timeouts.queue
  const requestSlots = new Slots({ total: limits.inFlight, perClient: limits.inFlightPerClient, waitMs })
  const tunnelSlots = new Slots({ total: limits.tunnels, perClient: limits.tunnelsPerClient, waitMs })
  const { forward, openWebSocket } = createForwarding(sallyport, options, refusals)
  const parts = {
    host: sallyport,
    options: addDenials(options),
    sites,
    methods: [...METHODS, ...(options.methods ?? [])],
    robots: createRobots(sallyport, sites, options),
    table: createRequestTable(options),
    handoff,
    bodyBytes: limits.bodyBytes ?? Number.POSITIVE_INFINITY,
    isOverloaded: (waitedMs: number) => overload.present || waitedMs > limits.eventLoopDelay,
  }
  const requests = createAdmission({ slots: requestSlots, cause: 'in_flight', refusals })
  const tunnels = createAdmission({ slots: tunnelSlots, cause: 'tunnels', refusals })
  const onRequest = createGate({ ...parts, admission: requests, forward })
  const onUpgrade = createGate({ ...parts, admission: tunnels, forward: openWebSocket })

  const { origins } = sites
  const robots = createOriginRobots(sites, options)
  /** Cuts the connections to the origin. */
  const close = async (): Promise<void> => {
    overload.close()
    robots.close()
    await Promise.all(origins.map((origin) => origin.close()))
  }
  const inFlight = createInFlight()
  return {
    /** The origin which takes requests without a route. */
    upstream: upstream && originAddress(upstream).text,
    /** Reads the robots.txt files of its origins. */
    robots,
    /** Lists the servers of origins. */
    members: () => origins.flatMap(({ members }) => members.all),
    load: () => ({
      requests: requestSlots.load,
      tunnels: tunnelSlots.load,
      /** Counts requests that wait for a connection to the origin. */
      originQueue: origins.reduce((sum, { queued }) => sum + queued, 0),
      /** The requests in flight or the longest queue of an origin, whichever is higher as a share of its limit. */
      share: Math.max(
        requestSlots.load.used / limits.inFlight,
        ...origins.map(({ queued }) => queued / Math.max(1, limits.originQueue)),
      ),
    }),
    limits,
    timeouts,
    onRequest: (exchange: Exchange): void => onRequest(inFlight.add(exchange)),
    onUpgrade: (exchange: Exchange): void => onUpgrade(inFlight.add(exchange)),
    /** Cuts the connections to the origin once its last request has ended; it gets no other request. */
    retire(): void {
      overload.close()
      robots.close()
      for (const origin of origins) origin.stopChecks()
      inFlight.onceNone(() => void close())
    },
    close,
  }
}

/** Creates the functions that send a request, or a WebSocket, to an origin, and answer where the origin gives no answer. */
function createForwarding(
  sallyport: ProxyHost,
  { limits, timeouts, onOriginFailure }: ServiceOptions,
  refusals: Refusals,
): Readonly<Record<'forward' | 'openWebSocket', GateServices['forward']>> {
  const onFailure = (exchange: Exchange, failure: Error): void => {
    const error = explained(failure, limits)
    onOriginFailure?.(error)
    sallyport.meter?.add('originFailures', [originFault(error)])
    answerWith(exchange, refusal(classifyFailure(error), undefined, clientReason(error)), 'origin')
  }
  const onConflict = (name: string): void => sallyport.meter?.add('fieldConflicts', [name])
  const hooks: RelayHooks = {
    onFailure,
    onRefused(exchange, cause) {
      refusals.count(cause)
      answerWith(exchange, limitRefusal(cause), cause)
    },
    onConflict,
    onAsked(exchange, level) {
      return sallyport.decider !== undefined && stepUp(sallyport, exchange, (exchange.site as Site).stepUp(level))
    },
    onHints: passHints,
  }
  return {
    forward(exchange, handed, site) {
      const { stream, ownHost } = site
      const owner = ownConnection(exchange, sallyport)
      // A spread of `handed` would cost as much as the decision.
      const { fields, sign } = handed
      originFor(exchange, site)?.forward({ fields, sign, exchange, owner, stream, ownHost }, hooks)
    },
    openWebSocket(exchange, handed, site) {
      const { ownHost } = site
      const origin = originFor(exchange, site)
      if (origin === undefined) return
      const handshake = { ...handed, exchange, ownHost, onFailure: (error: Error) => onFailure(exchange, error) }
      openTunnel(origin, { ...handshake, onConflict }, { ...timeouts, ...site.timeouts })
    },
  }
}

/** Adds a line for the operator about the first refused check of another server. */
function addDenials<Options extends GateOptions>(options: Options): Options {
  let isTold = false
  const onDenied = (why: string): void => {
    if (!isTold) options.onNotice?.(`forward-auth: rejected a check: ${why}`)
    isTold = true
  }
  return { ...options, onDenied }
}

/** Returns the origin of a request; answers 404 where there is none. */
function originFor(exchange: Exchange, { origin }: Site): Site['origin'] {
  if (origin === undefined) answerWith(exchange, refusal('not_found'), 'no_origin')
  return origin
}

/** Counts exchanges from begin to end: an exchange may wait for a count or for its turn long before it is forwarded. */
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
    /** Calls `end` once, when no exchange is left; no new exchange comes then. */
    onceNone(end: () => void): void {
      if (count === 0) end()
      else onNone = end
    },
  }
}
