import type { RaiseEvent } from '@sallyport/engine'
import { type LimitsInput, parseLimits, parseTimeouts, type TimeoutsInput } from '@sallyport/engine/limits'
import { createExposition, type Exposition, exposed, type Scraped } from '@sallyport/engine/metrics'
import { challengeAnswer } from './acme/challenge-files.ts'
import { challengeFolder, createRenewals } from './acme/renewal.ts'
import { type AdminPages, openAdmin, type WorkerCounts } from './admin.ts'
import type { AdminOpen } from './admin-access.ts'
import type { ProxyVersion } from './edge/proxy-header.ts'
import { hstsField, type TlsOptions } from './edge/tls-options.ts'
import { createRefusals, type RefusalCause } from './exchange/refusals.ts'
import type { GateOptions, ProxyHost } from './gate/options.ts'
import type { Route } from './gate/sites.ts'
import { createListener, type Listener } from './listener/listener.ts'
import { refuseOwn } from './origin/own-listener.ts'
import { createOriginTurns } from './origin/turns.ts'
import { createService, type Service } from './service.ts'

const DEFAULT_LISTEN = '127.0.0.1:8080'
const HTTPS_PORT = 443

/** The proxy's keys of the configuration, and the hooks of a program. */
export interface ProxyOptions extends GateOptions {
  /** `host:port`, default 127.0.0.1:8080; port 0 takes a free one. */
  readonly listen?: string | undefined
  /** TLS on that address; absent: none. */
  readonly tls?: TlsOptions | undefined
  /** `host:port` for plain HTTP beside TLS, where clients are redirected; absent: nowhere. */
  readonly http?: string | undefined
  /** Every connection begins with a PROXY header, from trusted peers alone; default `false`. */
  readonly proxyProtocol?: ProxyVersion | false | undefined
  /** Address of the health listener; absent: 127.0.0.1:9090, and none where that is taken. */
  readonly admin?: string | undefined
  /** Paths that need no token there from anywhere; default none: this machine alone asks without one. */
  readonly adminOpen?: readonly AdminOpen[] | undefined
  /** Tokens and pages of a program on the health listener, as those of the console; absent: none. */
  readonly adminPages?: AdminPages | undefined
  /** The origin of what no route has, `http(s)://host[:port]` or `unix:/path`; absent: 404 for that. */
  readonly upstream?: string | undefined
  /** Whether the robots.txt of `upstream` is read at the start, so that the first crawler is judged by it too; default: when a rule asks. */
  readonly readsRobots?: boolean | undefined
  /** As in the configuration; what is absent has its default. */
  readonly limits?: LimitsInput | undefined
  readonly timeouts?: TimeoutsInput | undefined
  /** Sites and parts of them, with origins of their own. */
  readonly routes?: readonly Route[] | undefined
  /** A connection or a request was refused or cut by a limit. */
  readonly onRefused?: ((cause: RefusalCause) => void) | undefined
  /** An origin without a usable answer; the client gets 502 or 504. */
  readonly onOriginFailure?: ((error: Error) => void) | undefined
  readonly data?: { readonly requireFresh?: boolean | undefined } | undefined
  /** The processes of a cluster, as far as they are known; absent: this one alone. */
  readonly workers?: (() => WorkerCounts | undefined) | undefined
  /** Metrics of all processes of a cluster at a scrape, this one's included; absent: this one alone. */
  readonly scrapeAll?: ((own: Scraped) => Promise<readonly Scraped[]>) | undefined
}

/** The options that a running proxy takes over. */
export type Reloadable = Pick<
  ProxyOptions,
  | ('upstream' | 'limits' | 'timeouts' | 'routes' | 'paths' | 'methods' | 'clientHeader' | 'tls')
  | ('forwardAuth' | 'handoff' | 'robots')
>

/** A proxy that listens. */
export interface Proxy {
  /** `http://host:port` or `https://host:port` it listens on. */
  readonly url: string
  /** URL of the plain listener beside TLS; absent where there is none. */
  readonly httpUrl?: string | undefined
  /** URL of the health listener; absent where there is none. */
  readonly adminUrl?: string | undefined
  /** The origin of what no route has; absent where there is none. */
  readonly upstream?: string | undefined
  /** The metrics of this process; empty where nothing is counted. */
  scrape(): Promise<Scraped>
  /** The same without gauges. */
  counted(): Promise<Scraped>
  /** Orders the certificates of `tls.acme` from now on, where this process did not: of those that share a folder one does. */
  orderCertificates(): void
  /**
   * Reads the certificates again, and takes over another upstream, limits, time-outs, routes, paths, methods, client header
   * and hand-off keys for requests from now on; those in flight end as they began. Rejects with `invalid_config`, and then nothing has changed.
   */
  reload(changed: Reloadable): Promise<void>
  /** The same in two steps, for a host that reloads more than this: it is taken over by calling what this resolves to. */
  prepare(changed: Reloadable): Promise<() => void>
  /**
   * Ends connections as their answers are sent, accepts no new ones, waits for what is in flight and for one more request
   * on each idle connection, then cuts the rest; `idle: 'cut'` does not wait for idle ones. Does not close the Sallyport.
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
  const opened: Closing[] = []
  let closed = false
  const close = async (idle?: 'wait' | 'cut'): Promise<void> => {
    closed = true
    for (let end = opened.pop(); end !== undefined; end = opened.pop()) await end(idle)
  }
  let httpsPort = HTTPS_PORT
  const { onFault, onRefused } = hooksOf(options)
  const raise: RaiseEvent = (event) => sallyport.raise?.(event)
  const turns = createOriginTurns(raise)
  const refusals = createRefusals(onRefused, (cause) => sallyport.meter?.add('refusals', [cause]))
  try {
    const create = (chosen: ProxyOptions): Service =>
      createService(sallyport, { ...chosen, ...readOptions(chosen, () => httpsPort), turns }, refusals)
    const { listen = DEFAULT_LISTEN, http, routes } = options
    await refuseOwn({ listen, http, admin: options.admin, upstream: options.upstream, routes })
    let service = create(options)
    opened.push(() => service.close())
    const { tls, proxyProtocol, onNotice = () => {} } = options
    const onLeak = (): void => sallyport.meter?.add('leakedSlots', [])
    const edge = { tls, proxyProtocol, onLeak, onNotice, onFault, raise }
    const listener = await createListener(() => service, { refusals, host: sallyport, ...edge })

    readLoad(sallyport, () => service, listener, options.workers)
    const exposition = sallyport.meter && createExposition(sallyport.meter.registry)
    opened.push(listener.close)
    const { url, httpUrl } = await listener.listen({ listen, http })
    httpsPort = Number(new URL(url).port || HTTPS_PORT)
    if (options.readsRobots) await service.robots.read(hostOf(url))
    const admin = await openAdmin({
      address: options.admin,
      sources: () => sallyport.sources(),
      accepting: () => listener.accepting,
      requireFresh: options.data?.requireFresh ?? false,
      metrics: exposition && scraping(exposition, options.scrapeAll),
      bans: sallyport.bans,
      exportedBans: sallyport.exportedBans,
      open: options.adminOpen ?? [],
      pages: options.adminPages,
      onLifted: (id) => sallyport.log?.audit({ what: 'bans lift', who: 'admin listener', details: { id } }),
      certificates: listener.certificates?.current,
      workers: options.workers,
      onNotice,
    })
    // Closed after the listener, so that readiness can be read during the drain.
    if (admin) opened.splice(-1, 0, admin.close)
    const renewals = createRenewals({ onNotice, raise }, tls?.acme)
    opened.push(renewals.close)
    // With the ports that were taken, and the health listener where nobody named one.
    const listening = {
      listen: hostOf(url),
      http: httpUrl && hostOf(httpUrl),
      admin: admin && hostOf(admin.url),
    }
    await refuseOwn({ ...listening, upstream: options.upstream, routes })

    const prepare = async (changed: Reloadable): Promise<() => void> => {
      const chosen = { ...options, ...changed }
      await refuseOwn({ ...listening, upstream: chosen.upstream, routes: chosen.routes })
      const next = create(chosen)
      try {
        const adopt = await listener.prepare(changed.tls)
        return () => {
          // Closed meanwhile: nobody would close another service.
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
      ...(admin ? { adminUrl: admin.url } : {}),
      ...measured(exposition),
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

/** `host:port` of a URL, also where the port is that of its scheme. */
function hostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? HTTPS_PORT : 80)}`
}

/** Returns the options of a service that are not passed on as they are; `port` is that of https. */
function readOptions({ tls, limits, timeouts }: ProxyOptions, port: () => number) {
  const { redirect = false, hsts, acme } = tls ?? {}
  return {
    limits: parseLimits(limits),
    timeouts: parseTimeouts(timeouts),
    httpsPort: redirect === false ? undefined : () => (redirect === true ? port() : redirect),
    hsts: hsts && hstsField(hsts),
    acmeAnswer: acme && ((target: string) => challengeAnswer(challengeFolder(acme.folder), target)),
  }
}

/** Hooks of a program that are called where nothing may be thrown. */
function hooksOf(options: ProxyOptions) {
  const onFault = (error: unknown): void => {
    try {
      options.onFault?.(error)
    } catch {
      // A hook for faults makes no other one.
    }
  }
  const onRefused = (cause: RefusalCause): void => {
    try {
      options.onRefused?.(cause)
    } catch (error) {
      onFault(error)
    }
  }
  return { onFault, onRefused }
}

/** Closes an open part of a proxy; the last one opened is closed first. */
type Closing = (idle?: 'wait' | 'cut') => Promise<void> | void

/** Returns the methods of a proxy that read its metrics. */
function measured(exposition: Exposition | undefined): Pick<Proxy, 'scrape' | 'counted'> {
  return {
    scrape: async () => exposition?.scrape() ?? [],
    counted: async () => exposition?.counted() ?? [],
  }
}

/** Answers GET /metrics. */
function scraping({ contentType, scrape }: Exposition, scrapeAll: ProxyOptions['scrapeAll']) {
  return async () => {
    const own = await scrape()
    return { type: contentType, text: await exposed(scrapeAll === undefined ? [own] : await scrapeAll(own)) }
  }
}

/** Has rules and metrics read what there is to do, and rules the robots.txt of origins. */
function readLoad(
  { meter, load, siteRobots }: ProxyHost,
  service: () => Service,
  listener: Listener,
  workers: ProxyOptions['workers'],
): void {
  load?.read(() => service().load().share)
  siteRobots?.read({
    refuses: (...asked) => service().robots.refuses(...asked),
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
