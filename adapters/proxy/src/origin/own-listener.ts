import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
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
export async function refuseOwn(places: Places): Promise<void> {
  const [first] = await ownListeners(places)
  if (first !== undefined) throw new SallyportError('invalid_config', `${first.path.join('.')}: ${first.message}`)
}

/** Every origin that is a listener of ours: by its address, by any address of this machine, or by a name that leads here. */
export async function ownListeners({ upstream, routes = [], ...places }: Places): Promise<readonly OwnListener[]> {
  const origins = [
    ...(upstream === undefined ? [] : [{ path: ['upstream'], text: upstream }]),
    ...routes.flatMap(({ upstreams = [] }, route) =>
      upstreams.map((text, at) => ({ path: ['routes', route, 'upstreams', at], text })),
    ),
  ]
  const listeners = (['listen', 'http', 'admin'] as const).flatMap((key) => {
    const place = placeOf(places[key])
    return place === undefined ? [] : [{ key, ...place }]
  })
  const found = await Promise.all(
    origins.map(async ({ path, text }) => {
      const key = await listenerAt(text, listeners)
      if (key === undefined) return []
      const message = `${text} is the address of ${key}, where this proxy itself listens: name the origin behind it`
      return [{ path, message }]
    }),
  )
  return found.flat()
}

interface Listener {
  readonly key: string
  readonly host: string
  readonly port: number
}

/** The listener that an origin is; names are asked for where a port is the same alone. */
async function listenerAt(origin: string, listeners: readonly Listener[]): Promise<string | undefined> {
  // One that is no origin at all is refused elsewhere, and named there.
  if (!URL.canParse(origin)) return undefined
  const url = new URL(origin)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const near = url.protocol === 'unix:' ? [] : listeners.filter((listener) => listener.port === port)
  if (near.length === 0) return undefined
  const addresses = await addressesOf(url.hostname)
  for (const { key, host } of near) {
    const own = await addressesOf(host)
    if (addresses.some((address) => reaches(address, own))) return key
  }
  return undefined
}

/** Whether who connects to an address arrives at one of those that are listened on. */
function reaches(address: string, listened: readonly string[]): boolean {
  const to = LOOPBACK[address] ?? address
  if (listened.includes(to)) return true
  const isOnAny = listened.includes('::') || (listened.includes('0.0.0.0') && !to.includes(':'))
  return isOnAny && isOfThisMachine(to)
}

/** Lists the addresses at which connections to no address in particular arrive. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

function isOfThisMachine(address: string): boolean {
  if (address.startsWith('127.') || address === '::1') return true
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => plain(one.address)))
  return own.includes(address)
}

/** Finds the addresses of a host; none where its name is not answered now. */
async function addressesOf(host: string): Promise<readonly string[]> {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  if (parseAddress(bare) !== undefined) return [plain(bare)]
  try {
    return (await lookup(bare, { all: true })).map(({ address }) => plain(address))
  } catch {
    return []
  }
}

/** Writes an address in one way; an IPv4 address within IPv6 is that address. */
function plain(text: string): string {
  const address = parseAddress(text.split('%', 1)[0] ?? '')
  return address === undefined ? text : formatAddress(address)
}

function placeOf(text: string | undefined): { readonly host: string; readonly port: number } | undefined {
  const { host = '', port = '' } = /^(?<host>\[[^\]]+\]|[^:[\]]+):(?<port>\d+)$/.exec(text ?? '')?.groups ?? {}
  // Port 0 is one that nobody knows before.
  return host === '' || Number(port) === 0 ? undefined : { host, port: Number(port) }
}
