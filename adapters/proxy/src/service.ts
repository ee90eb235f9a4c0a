import { refusal } from '@sallyport/node'
import type { Limits, Timeouts } from '@sallyport/open/limits'
import { type AdmissionOptions, createAdmission } from './admission.ts'
import { answerWith, limitRefusal } from './answers.ts'
import type { Exchange } from './exchange.ts'
import { createGate } from './gate.ts'
import type { GateOptions, ProxyHost } from './gate-options.ts'
import type { Served } from './listener.ts'
import { failureOf, openOrigin } from './origin.ts'
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

/** What one configuration makes of requests; a reload takes another. */
export interface Service extends Served {
  readonly upstream: URL | undefined
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

  const admission = (cause: AdmissionOptions['cause'], total: number, perClient: number) =>
    createAdmission({
      slots: new Slots({ total, perClient, waitMs: timeouts.queue }),
      cause,
      ...{ ipv6Prefix: limits.ipv6Prefix, bodyBytes: limits.bodyBytes, refusals },
      isOverloaded: () => overload.present,
    })
  const fail = (exchange: Exchange, error: Error): void => {
    options.onOriginFailure?.(error)
    answerWith(exchange, refusal(failureOf(error)), 'origin')
  }

  const requests = admission('in_flight', limits.inFlight, limits.inFlightPerClient)
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
  const tunnels = admission('tunnels', limits.tunnels, limits.tunnelsPerClient)
  const onUpgrade = createGate(sallyport, options, tunnels, (exchange, _, fields) => {
    if (upstream === undefined) answerWith(exchange, refusal('not_found'), 'no_origin')
    else openTunnel(upstream, { exchange, fields, onFailure: (error) => fail(exchange, error) }, timeouts)
  })

  return {
    upstream,
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
