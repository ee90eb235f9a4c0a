import { formatAddress, parseAddress, SallyportError } from '@sallyport/core'

/** The addresses that a proxy listens on and forwards to. */
export interface Places {
  readonly listen?: string | undefined
  readonly http?: string | undefined
  readonly admin?: string | undefined
  readonly upstream?: string | undefined
  readonly routes?: readonly { readonly upstreams?: readonly string[] | undefined }[] | undefined
}

/** Throws `invalid_config` where an origin is a listener of the proxy itself: each request would come back. */
export function refuseOwn(places: Places): void {
  const [first] = listOwnListeners(places)
  if (first !== undefined) throw new SallyportError('invalid_config', `${first.path.join('.')}: ${first.message}`)
}

/**
 * Lists the origins that name a listener of ours, with the path to each in the configuration: `['routes', 0, 'upstreams', 1]`. A loop
 * through another name ends in a 508 at its first request.
 */
export function listOwnListeners(places: Places) {
  return listServers(places).flatMap(({ path, text }) => {
    const key = (['listen', 'http', 'admin'] as const).find((name) => isSame(text, places[name]))
    const message = `${text} is the address in ${key}, where this proxy itself listens. Use the address of the origin`
    return key === undefined ? [] : [{ path, message }]
  })
}

/** Lists the servers of all origins, with their places in the configuration. */
export function listServers({ upstream, routes = [] }: Pick<Places, 'upstream' | 'routes'>) {
  return [
    ...(upstream === undefined ? [] : [{ path: ['upstream'], text: upstream }]),
    ...routes.flatMap(({ upstreams = [] }, route) =>
      upstreams.map((text, at) => ({ path: ['routes', route, 'upstreams', at], text })),
    ),
  ]
}

function isSame(origin: string, listener = ''): boolean {
  // Another check refuses and names a text that is no URL.
  if (!URL.canParse(origin) || !URL.canParse(`http://${listener}`)) return false
  const { protocol, hostname, port } = new URL(origin)
  const own = new URL(`http://${listener}`)
  if ((port || (protocol === 'https:' ? '443' : '80')) !== (own.port || '80')) return false
  const [to, listened] = [readHost(hostname), readHost(own.hostname)]
  return to === listened || (ANY.has(listened) && (LOOPBACK.test(to) || ANY.has(to)))
}

const ANY: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
const LOOPBACK = /^127\.|^::1$/

/** Writes the host of a URL in one form; `localhost` becomes 127.0.0.1. */
function readHost(hostname: string): string {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  const address = parseAddress(bare)
  const host = address === undefined ? bare : formatAddress(address)
  return host === 'localhost' ? '127.0.0.1' : host
}
