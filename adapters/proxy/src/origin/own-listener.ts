import { formatAddress, parseAddress, SallyportError } from '@sallyport/core'

/** The addresses that a proxy listens on, and where it forwards to. */
export interface Places {
  readonly listen?: string | undefined
  readonly http?: string | undefined
  readonly admin?: string | undefined
  readonly upstream?: string | undefined
  readonly routes?: readonly { readonly upstreams?: readonly string[] | undefined }[] | undefined
}

/** An origin that is a listener of its own proxy. */
export interface OwnListener {
  /** Its place in the configuration: `['routes', 0, 'upstreams', 1]`. */
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Throws `invalid_config` where an origin is a listener of the proxy itself: each request would come back. */
export function refuseOwn(places: Places): void {
  const [first] = ownListeners(places)
  if (first !== undefined) throw new SallyportError('invalid_config', `${first.path.join('.')}: ${first.message}`)
}

/** Every origin that is a listener of ours by its address. One that leads here by another name is found by its first request, which loops. */
export function ownListeners({ upstream, routes = [], listen, http, admin }: Places): readonly OwnListener[] {
  const origins = [
    ...(upstream === undefined ? [] : [{ path: ['upstream'], text: upstream }]),
    ...routes.flatMap(({ upstreams = [] }, route) =>
      upstreams.map((text, at) => ({ path: ['routes', route, 'upstreams', at], text })),
    ),
  ]
  const listeners = Object.entries({ listen, http, admin })
  return origins.flatMap(({ path, text }) => {
    const [key] = listeners.find(([, address]) => address !== undefined && isAt(text, address)) ?? []
    if (key === undefined) return []
    const message = `${text} is the address of ${key}, where this proxy itself listens: name the origin behind it`
    return [{ path, message }]
  })
}

function isAt(origin: string, listener: string): boolean {
  // A text that is no origin at all is refused elsewhere, and named there.
  if (!URL.canParse(origin) || !URL.canParse(`http://${listener}`)) return false
  const [to, own] = [new URL(origin), new URL(`http://${listener}`)]
  const port = to.port || (to.protocol === 'https:' ? '443' : '80')
  if (to.protocol === 'unix:' || port !== (own.port || '80') || port === '0') return false
  const [host, listened] = [plain(to.hostname), plain(own.hostname)]
  // Connections to no address in particular arrive at loopback.
  const reached = LOOPBACK[host] ?? host
  if (reached === listened) return true
  const isOnAny = listened === '::' || (listened === '0.0.0.0' && !reached.includes(':'))
  return isOnAny && (reached.startsWith('127.') || reached === '::1')
}

const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** One way of writing a host. */
function plain(hostname: string): string {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  const address = parseAddress(bare)
  if (bare === 'localhost') return '127.0.0.1'
  return address === undefined ? bare : formatAddress(address)
}
