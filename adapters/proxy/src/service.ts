import { refusal } from '@sallyport/node'
import type { Limits, Timeouts } from '@sallyport/open/limits'
import { type AdmissionOptions, createAdmission } from './admission.ts'
import { answerWith, limitRefusal } from './answers.ts'
import type { Exchange } from './exchange.ts'
import { createGate } from './gate.ts'
import type { GateOptions, ProxyHost } from './gate-options.ts'
import type { Served } from './listener.ts'
import { failureOf, faultOf, openOrigin } from './origin.ts'
import { watchOverload } from './overload.ts'
import type { RefusalCause, Refusals } from './refusals.ts'
import { createRoutes, type Route } from './routes.ts'
import { Slots } from './slots.ts'
import { openTunnel } from './upgrade.ts'

export interface ServiceOptions extends GateOptions {
  /** Absent: 404 for all but the API. */
  readonly upstream: URL | undefined
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly routes?: readonly Route[] | undefined
  readonly onOriginFailure?: ((error: Error) => void) | undefined
}

/** Requests and tunnels that have a slot or wait for one, and requests that wait for a connection to the origin. */
export interface ServiceLoad {
  readonly requests: Slots['load']
  readonly tunnels: Slots['load']
  readonly originQueue: number
}

/** What one configuration makes of requests; a reload takes another. */
export interface Service extends Served {
  readonly upstream: URL | undefined
  /** What it has to do now. */
  load(): ServiceLoad
  /** Ends what is left of it when its last request has ended; resolves at once. */
  retire(): void
  /** Cuts the connections to the origin. */
  close(): Promise<void>
}

export function createService(sallyport: ProxyHost, options: ServiceOptions, refusals: Refusals): Service {
  const { upstream, limits, timeouts } = options
  const origin = upstream && openOrigin(upstream, limits, timeouts)
  const overload = watchOverload(limits)
  const routeOf = createRoutes(options.routes ?? [])

  const requestSlots = new Slots({
    ...{ total: limits.inFlight, perClient: limits.inFlightPerClient, waitMs: timeouts.queue },
  })
  const tunnelSlots = new Slots({ total: limits.tunnels, perClient: limits.tunnelsPerClient, waitMs: timeouts.queue })
  const admission = (cause: AdmissionOptions['cause'], slots: Slots) =>
    createAdmission({
      slots,
      cause,
      ...{ ipv6Prefix: limits.ipv6Prefix, bodyBytes: limits.bodyBytes, refusals },
      isOverloaded: () => overload.present,
    })
  const fail = (exchange: Exchange, error: Error): void => {
    options.onOriginFailure?.(error)
    sallyport.meter?.add('originFailures', [faultOf(error)])
    answerWith(exchange, refusal(failureOf(error)), 'origin')
  }

  const requests = admission('in_flight', requestSlots)
  const onRequest = createGate(sallyport, options, requests, (exchange, client, fields) => {
    if (origin === undefined) {
      answerWith(exchange, refusal('not_found'), 'no_origin')
      return
    }
    const { stream = false } = routeOf(exchange.request.url ?? '/') ?? {}
    const onFailure = (error: Error): void => fail(exchange, error)
    const onRefused = (cause: RefusalCause): void => {
      refusals.count(cause)
      answerWith(exchange, limitRefusal(cause), cause)
    }
    origin.forward({ exchange, client, fields, stream }, { onFailure, onRefused })
  })
  const tunnels = admission('tunnels', tunnelSlots)
  const onUpgrade = createGate(sallyport, options, tunnels, (exchange, _, fields) => {
    if (upstream === undefined) answerWith(exchange, refusal('not_found'), 'no_origin')
    else openTunnel(upstream, { exchange, fields, onFailure: (error) => fail(exchange, error) }, timeouts)
  })

  return {
    upstream,
    load: () => ({ requests: requestSlots.load, tunnels: tunnelSlots.load, originQueue: origin?.queued ?? 0 }),
    limits,
    timeouts,
    onRequest,
    onUpgrade,
    retire() {
      overload.close()
      origin?.retire()
    },
    async close() {
      overload.close()
      await origin?.close()
    },
  }
}
