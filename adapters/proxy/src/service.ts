import { createHandoffSigner } from '@sallyport/core'
import { Slots } from './bounds/slots.ts'
import type { Refusals } from './exchange/answers.ts'
import type { Exchange } from './exchange/exchange.ts'
import { createInFlight } from './exchange/roster.ts'
import { createRequestTable } from './fields/request-fields.ts'
import { createAdmission, watchOverload } from './gate/admission.ts'
import { createForwarding, type ForwardingOptions } from './gate/forwarding.ts'
import type { GateOptions, ProxyHost } from './gate/options.ts'
import { createOriginRobots } from './gate/origin-robots.ts'
import { createGate } from './gate/phases.ts'
import { METHODS } from './gate/prechecks.ts'
import { createRobots } from './gate/robots.ts'
import { openSites, type SitesOptions } from './gate/sites.ts'
import { originAddress } from './origin/address.ts'

export interface ServiceOptions extends GateOptions, SitesOptions, ForwardingOptions {}

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

/** Adds a line for the operator about the first refused check of another server. */
function addDenials<Options extends GateOptions>(options: Options): Options {
  let isReported = false
  const onDenied = (why: string): void => {
    if (!isReported) options.onNotice?.(`forward-auth: rejected a check: ${why}`)
    isReported = true
  }
  return { ...options, onDenied }
}
