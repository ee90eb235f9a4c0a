import { getProxyForUrl } from 'proxy-from-env'

/** The proxy of the environment for a URL. Throws where that is no http or https URL, without repeating it: it may hold a password. */
export function proxyOf(url: URL): URL | undefined {
  const named = getProxyForUrl(url.href)
  if (named === '') return undefined
  const proxy = URL.canParse(named) ? new URL(named) : undefined
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy
  throw new Error('HTTPS_PROXY is no http or https URL')
}
