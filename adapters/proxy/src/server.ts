import type { RaiseEvent } from '@sallyport/engine'
import { type LimitsInput, parseLimits, parseTimeouts, type TimeoutsInput } from '@sallyport/engine/limits'
import { createExposition, type Exposition, exposed, type Scraped } from '@sallyport/engine/metrics'
import { challengeAnswer } from './acme/challenge-files.ts'
import { createRenewals } from './acme/renewal.ts'
import { type AdminOptions, openAdmin } from './admin.ts'
import type { ProxyVersion } from './edge/proxy-header.ts'
import type { TlsOptions } from './edge/tls-options.ts'
import { createRefusals, type RefusalCause } from './exchange/answers.ts'
import type { GateOptions, ProxyHost } from './gate/options.ts'
import type { Route } from './gate/sites.ts'
import { createListener, type Listener } from './listener/listener.ts'
import { createOriginTurns } from './origin/members.ts'
import { refuseOwn } from './origin/own-listener.ts'
import { createService, type Service } from './service.ts'

const DEFAULT_LISTEN = '127.0.0.1:8080'
const HTTPS_PORT = 443

/** Holds the proxy's keys of the configuration, and the hooks of a program. */
export interface ProxyOptions extends GateOptions, AdminOptions {
  /** `host:port`; default: 127.0.0.1:8080. Port 0 takes a free port. */
  readonly listen?: string | undefined
  /** Says how to serve TLS on that address; absent: no TLS. */
  readonly tls?: TlsOptions | undefined
  /** `host:port` for plain HTTP beside TLS, where clients are redirected; absent: none. */
  readonly http?: string | undefined
  /** The version of the PROXY header with which every connection begins, accepted only from trusted peers; default: `false`. */
  readonly proxyProtocol?: ProxyVersion | false | undefined
  /** The origin of requests without a route, `http(s)://host[:port]` or `unix:/path`; absent: such requests get 404. */
  readonly upstream?: string | undefined
  /** Whether the start reads robots.txt of `upstream`, so that it also judges the first crawler; default: when a rule needs it. */
  readonly readsRobots?: boolean | undefined
  /** Sets limits as the configuration does; an absent limit has its default. */
  readonly limits?: LimitsInput | undefined
  readonly timeouts?: TimeoutsInput | undefined
  /** Gives sites, and parts of sites, their own origins. */
  readonly routes?: readonly Route[] | undefined
  /** Called when a limit refuses or cuts a connection or a request. */
  readonly onRefused?: ((cause: RefusalCause) => void) | undefined
  /** Called when an origin gives no usable answer; the client gets 502 or 504. */
  readonly onOriginFailure?: ((error: Error) => void) | undefined
  /** Collects the metrics of all processes of a cluster at a scrape, including this one; absent: this process alone. */
  readonly scrapeAll?: ((own: Scraped) => Promise<readonly Scraped[]>) | undefined
}

/** The options that a running proxy takes over. */
export type Reloadable = Pick<
  ProxyOptions,
  | ('upstream' | 'limits' | 'timeouts' | 'routes' | 'paths' | 'methods' | 'clientHeader' | 'ja4Header' | 'tls')
  | ('forwardAuth' | 'handoff' | 'robots')
>

/** A proxy that is open: it listens until `close`. */
export interface Proxy {
  /** The URL it can be reached at, `http://host:port` or `https://host:port`. */
  readonly url: string
  /** URL of the plain listener beside TLS; absent where there is none. */
  readonly httpUrl?: string | undefined
  /** URL of the health listener; absent where there is none. */
  readonly adminUrl?: string | undefined
  /** The origin of requests without a route; absent where there is none. */
  readonly upstream?: string | undefined
  /** Returns the metrics of this process; empty where nothing is counted. */
  scrape(): Promise<Scraped>
  /** Returns the metrics without gauges. */
  counted(): Promise<Scraped>
  /** Makes this process order the certificates of `tls.acme`, where it did not before: one of the processes that share a folder orders. */
  orderCertificates(): void
  /**
   * Reads the certificates again, and takes over another upstream, limits, time-outs, routes, paths, methods, client header and hand-off
   * keys for new requests; requests in flight end as they began. Rejects with `invalid_config`, and then nothing has changed.
   */
  reload(changed: Reloadable): Promise<void>
  /** Reloads in two steps, for a host that reloads more than the proxy: resolves to a function that takes over the change. */
  prepare(changed: Reloadable): Promise<() => void>
  /**
   * Ends connections as their answers are sent, accepts no new connections, and waits for requests in flight and for one more request on
   * each idle connection, then cuts the rest; `idle: 'cut'` does not wait for idle connections. Does not close the Sallyport.
   */
  close(idle?: 'wait' | 'cut'): Promise<void>
}

/**
 * Opens the standalone proxy: every request is checked, answered by the API where the path is the API's, decided, then
 * refused or forwarded. Rejects with `cannot_listen` where an address is taken, with `invalid_config`, and with `package_missing`.
 *
 * @example
 * ```ts
 * import { openProxy } from '@sallyport/proxy'
 * import { open } from 'sallyport'
 *
 * const sallyport = await open()
 * const proxy = await openProxy(sallyport, { listen: '127.0.0.1:8080', upstream: 'http://127.0.0.1:3000' })
 * console.log(proxy.url, proxy.adminUrl)
 * process.once('SIGTERM', () => proxy.close('wait').then(() => sallyport.close()))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/proxy#readme
 */
export async function openProxy(sallyport: ProxyHost, options: ProxyOptions = {}): Promise<Proxy> {
  /** Close the open parts; the last opened part closes first. */
  const opened: ((idle?: 'wait' | 'cut') => Promise<void> | void)[] = []
  let closed = false
  const close = async (idle?: 'wait' | 'cut'): Promise<void> => {
    closed = true
    for (let end = opened.pop(); end !== undefined; end = opened.pop()) await end(idle)
  }
  let httpsPort = HTTPS_PORT
  const { listen = DEFAULT_LISTEN, http, tls, proxyProtocol, onNotice = () => {} } = options
  const onFault = callSafely(options.onFault, () => {})
  const raise: RaiseEvent = (event) => sallyport.raise?.(event)
  const turns = createOriginTurns(raise)
  const refusals = createRefusals(callSafely(options.onRefused, onFault), (cause) =>
    sallyport.meter?.add('refusals', [cause]),
  )
  try {
    const create = (chosen: ProxyOptions): Service =>
      createService(sallyport, { ...chosen, ...readOptions(chosen, () => httpsPort), turns }, refusals)
    refuseOwn({ ...options, listen })
    let service = create(options)
    opened.push(() => service.close())
    const onLeak = (): void => sallyport.meter?.add('leakedSlots', [])
    const hooks = { refusals, onLeak, onNotice, onFault, raise }
    const listener = await createListener(() => service, { host: sallyport, tls, proxyProtocol, ...hooks })
    readLoad(sallyport, () => service, listener, options.workers)
    const exposition = sallyport.meter && createExposition(sallyport.meter.registry)
    opened.push(listener.close)
    const { url, httpUrl } = await listener.listen(listen, http)
    httpsPort = Number(new URL(url).port || HTTPS_PORT)
    if (options.readsRobots) await service.robots.read(readHost(url))
    const metrics = exposition && createScraper(exposition, options.scrapeAll)
    const admin = await openAdmin({ ...options, host: sallyport, listener, metrics })
    // The admin listener closes after the public one, so that readiness can be read during the drain.
    if (admin) opened.splice(-1, 0, admin.close)
    const renewals = createRenewals({ onNotice, raise }, tls?.acme)
    opened.push(renewals.close)
    // The addresses have the actual ports, and the default health listener.
    const listening = readPlaces(url, httpUrl, admin?.url)
    refuseOwn({ ...options, ...listening })

    const prepare = async (changed: Reloadable): Promise<() => void> => {
      const chosen = { ...options, ...changed }
      refuseOwn({ ...chosen, ...listening })
      const next = create(chosen)
      try {
        const adopt = await listener.prepare(changed.tls)
        return () => {
          // The proxy was closed meanwhile: no other code would close the new service.
          if (closed) return next.retire()
          service.retire()
          service = next
          adopt()
          renewals.keep((changed.tls ?? tls)?.acme)
        }
      } catch (error) {
        next.retire()
        throw error
      }
    }

    return {
      url,
      httpUrl,
      get upstream() {
        return service.upstream
      },
      adminUrl: admin?.url,
      scrape: async () => exposition?.scrape() ?? [],
      counted: async () => exposition?.counted() ?? [],
      orderCertificates: renewals.order,
      prepare,
      reload: async (changed) => (await prepare(changed))(),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function readPlaces(...urls: readonly (string | undefined)[]): Pick<ProxyOptions, 'listen' | 'http' | 'admin'> {
  const [listen, http, admin] = urls.map((url) => url && readHost(url))
  return { listen, http, admin }
}

/** Returns `host:port` of a URL, also where the URL has the default port of its scheme. */
function readHost(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? HTTPS_PORT : 80)}`
}

/** Returns the options that a service takes in another form; `port` returns the port of https. */
function readOptions({ tls, limits, timeouts }: ProxyOptions, port: () => number) {
  const { redirect = false, hsts, acme } = tls ?? {}
  return {
    limits: parseLimits(limits),
    timeouts: parseTimeouts(timeouts),
    httpsPort: redirect === false ? undefined : () => (redirect === true ? port() : redirect),
    hsts,
    acmeAnswer: acme && ((target: string) => challengeAnswer(acme.folder, target)),
  }
}

/** Wraps a hook of a program, so that an error in it ends nothing. */
function callSafely<T>(hook: ((value: T) => void) | undefined, onError: (error: unknown) => void): (value: T) => void {
  return (value) => {
    try {
      hook?.(value)
    } catch (error) {
      onError(error)
    }
  }
}

/** Returns the answer to GET /metrics. */
function createScraper({ contentType, scrape }: Exposition, scrapeAll: ProxyOptions['scrapeAll']) {
  return async () => {
    const own = await scrape()
    return { type: contentType, text: await exposed(scrapeAll === undefined ? [own] : await scrapeAll(own)) }
  }
}

/** Gives rules and metrics the load of the proxy, and rules the robots.txt of origins. */
function readLoad(
  { meter, load, siteRobots }: ProxyHost,
  service: () => Service,
  listener: Listener,
  workers: ProxyOptions['workers'],
): void {
  load?.read(() => service().load().share)
  siteRobots?.read({
    refuses: (...asked) => service().robots.refuses(...asked),
    text: (host) => service().robots.text(host),
    get status() {
      return service().robots.status
    },
  })
  meter?.read('workers', () => Object.entries(workers?.() ?? {}).map(([state, count]) => [[state], count]))
  meter?.read('connections', () => [[[], listener.connections]])
  meter?.read('certificates', () =>
    (listener.certificates?.current() ?? []).map(({ file, notAfter }) => [[file], notAfter / 1_000]),
  )
  meter?.read('inFlight', () => {
    const { requests, tunnels } = service().load()
    return [
      [['requests'], requests.used],
      [['tunnels'], tunnels.used],
    ]
  })
  meter?.read('originUp', () =>
    service()
      .members()
      .map(({ address, up }) => [[address.text], up ? 1 : 0]),
  )
  meter?.read('queued', () => {
    const { requests, tunnels, originQueue } = service().load()
    return [
      [['requests'], requests.waiting],
      [['tunnels'], tunnels.waiting],
      [['origin'], originQueue],
    ]
  })
}
