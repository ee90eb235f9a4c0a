import type { Dns, Fetch, Port43 } from '@sallyport/core'
import { getProxyForUrl } from 'proxy-from-env'
import { type Connect, createClosed, createConnect, createDns, createFetch, createPort43 } from '#net'
import type { Settings } from '#settings'

/** Sends all outbound questions of a service, except those of stores, origins and certificates of its own. */
export interface Outbound {
  readonly dns: Dns
  /** Serves checks that the next request repeats if there was no answer. */
  readonly oneTry: Dns
  readonly fetch: Fetch
  /** Fetches only URLs of data/sources.json and of the configuration, through the proxy that `HTTPS_PROXY` and `NO_PROXY` name. */
  readonly feeds: Fetch
  readonly port43: Port43
  readonly connect: Connect
}

const CLOSED = createClosed('net.outbound is false')

export interface OutboundHooks {
  /** Resolves names instead of the configured servers. */
  readonly dns?: Dns | undefined
  readonly counted?: ((dns: Dns) => Dns) | undefined
}

/** Opens outbound connections as configured. With `net.outbound: false` each question fails unsent, also for `hooks.dns`. */
export function createOutbound(
  { net, dns: options }: Pick<Settings, 'net' | 'dns'>,
  { dns: given, counted = (dns) => dns }: OutboundHooks = {},
): Outbound {
  if (!net.outbound)
    return { dns: CLOSED, oneTry: CLOSED, fetch: CLOSED, feeds: CLOSED, port43: CLOSED, connect: CLOSED.connect }
  const dns = counted(given ?? createDns(options))
  const guarded = { dns, allowPrivate: net.allowPrivate }
  return {
    dns,
    oneTry: counted(given ?? createDns({ ...options, tries: 1 })),
    fetch: createFetch(guarded),
    feeds: createFetch({ ...guarded, findProxy }),
    port43: createPort43(guarded),
    connect: createConnect(guarded),
  }
}

/** Returns the proxy of the environment for a URL. Throws without repeating a malformed proxy URL, because it may hold a password. */
export function findProxy(url: URL): URL | undefined {
  const named = getProxyForUrl(url.href)
  if (named === '') return undefined
  const proxy = URL.canParse(named) ? new URL(named) : undefined
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy
  throw new Error('HTTPS_PROXY is not an http or https URL')
}
