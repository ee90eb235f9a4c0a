import type { Dns, Fetch } from '@sallyport/core'
import { createFetch } from '@sallyport/net'
import { getProxyForUrl } from 'proxy-from-env'
import type { Config } from '../config/schema.ts'

/**
 * How feeds are downloaded: as anything outbound, and over https through the proxy that `HTTPS_PROXY` and `NO_PROXY` name. For
 * the addresses of data/sources.json and of `data`, and for none that a visitor, a key directory or a registry names.
 */
export function createFeedFetch(config: Pick<Config, 'net'>, dns: Dns): Fetch {
  return createFetch({ dns, allowPrivate: config.net.allowPrivate, proxyOf })
}

/** The proxy of the environment for a URL. Throws where that is no http or https URL, without repeating it: it may hold a password. */
export function proxyOf(url: URL): URL | undefined {
  const named = getProxyForUrl(url.href)
  if (named === '') return undefined
  const proxy = URL.canParse(named) ? new URL(named) : undefined
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy
  throw new Error('HTTPS_PROXY is no http or https URL')
}
