import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { errorCode, SallyportError } from '@sallyport/core'
import type { Finding } from '@sallyport/engine'
import { connectionReason } from '@sallyport/engine/files'
import { Client } from 'undici'
import { type AcmeKeys, loadAcme } from './acme/order.ts'
import { DEFAULT_ADMIN } from './admin.ts'
import { type CertificateFiles, dateFault, formatDay, readCertificate } from './edge/certificates.ts'
import { PairFault } from './edge/chain.ts'
import type { TlsOptions } from './edge/tls-options.ts'
import type { Route } from './gate/sites.ts'
import { connectorTo, originAddress, readTrust } from './origin/address.ts'
import { listOwnListeners, listServers, type Places } from './origin/own-listener.ts'

/** A finding that does not name its check yet. */
type Found = Omit<Finding, 'check'>

/** Names the keys of the configuration that concern certificates. */
type TlsKeys = Pick<TlsOptions, 'certificates'> & { readonly acme?: Pick<AcmeKeys, 'ca'> | undefined }

/** Names the keys of origins, and the listeners that no origin may be. */
interface OriginKeys extends Omit<Places, 'routes'> {
  readonly routes?: readonly Route[] | undefined
}

/** Limits the wait for a server of an origin. */
const CONNECT_MS = 2_000

/** Checks every certificate with its key, as a start reads them, and how long it is valid. */
export async function examineTls(tls: TlsKeys | undefined): Promise<readonly Found[]> {
  if (tls === undefined) return [{ state: 'ok', found: 'TLS is not configured.' }]
  const { certificates = [], acme } = tls
  const pairs = await Promise.all(certificates.map((pair, at) => examinePair(pair, at)))
  return [...pairs.flat(), ...(acme === undefined ? [] : await examineAcme(acme))]
}

async function examinePair(pair: CertificateFiles, at: number): Promise<readonly Found[]> {
  const certificatePath = (member: string) => ['tls', 'certificates', at, member]
  try {
    const read = await readCertificate(pair)
    const dates = dateFault(read)
    const renew = 'Renew the certificate, or correct the clock of this machine. Browsers reject the certificate.'
    const replace = 'Use the file that the CA provides for servers. Some clients reject this file.'
    const faults = [
      ...(dates === undefined ? [] : [{ fault: dates, advice: renew }]),
      ...read.faults.map((fault) => ({ fault, advice: replace })),
    ]
    const path = certificatePath('cert')
    if (faults.length > 0)
      return faults.map(({ fault, advice }) => ({ state: 'warn', found: `${pair.cert} ${fault}.`, advice, path }))
    const names = read.names.length === 0 ? 'no name' : read.names.join(', ')
    return [{ state: 'ok', found: `${pair.cert} covers ${names} and is valid until ${formatDay(read.notAfter)}.` }]
  } catch (error) {
    const advice = 'Use a certificate and its key in PEM that this user can read.'
    const path = certificatePath(error instanceof PairFault ? error.of : 'cert')
    return [{ state: 'fail', found: describeFault(error), advice, path }]
  }
}

async function examineAcme({ ca }: NonNullable<TlsKeys['acme']>): Promise<readonly Found[]> {
  const found: Found[] = []
  try {
    await loadAcme()
  } catch (error) {
    found.push({ state: 'fail', found: describeFault(error), advice: 'npm install acme-client', path: ['tls', 'acme'] })
  }
  if (ca !== undefined) found.push(...examineTrust(ca, ['tls', 'acme', 'ca']))
  return found.length > 0 ? found : [{ state: 'ok', found: 'The package acme-client is installed.' }]
}

function examineTrust(file: string, path: readonly (string | number)[]): readonly Found[] {
  try {
    readTrust(file, path.join('.'))
    return []
  } catch (error) {
    return [{ state: 'fail', found: describeFault(error), advice: 'Use a PEM file of certificates.', path }]
  }
}

/** Checks every server of every origin: that it is not a listener of this proxy, and that something answers there. */
export async function examineOrigins(places: OriginKeys): Promise<readonly Found[]> {
  const { routes = [], admin = (await mayBeOurs(DEFAULT_ADMIN)) ? DEFAULT_ADMIN : undefined } = places
  const own = listOwnListeners({ ...places, admin })
  const trust = routes.flatMap(({ ca }, at) => (ca === undefined ? [] : examineTrust(ca, ['routes', at, 'ca'])))
  const others = listServers(places).filter(({ path }) => !own.some((one) => one.path.join('.') === path.join('.')))
  const checks = await Promise.all(others.map(({ text, path }) => askServer(text, path)))
  const found = [
    ...own.map(({ path, message }): Found => {
      const advice = 'Set the address of your application, or another listen address.'
      return { state: 'fail', found: `${message}.`, advice, path }
    }),
    ...trust,
    ...checks,
  ]
  return found.length === 0 ? [{ state: 'ok', found: 'No origin is configured.' }] : found
}

/** Names the keys of the configuration that say where the API is. */
interface ApiKeys extends Pick<OriginKeys, 'upstream' | 'routes'> {
  readonly api: { readonly enabled: boolean; readonly base: string }
}

/** Asks each origin whether it has its own API where the gate answers with ours, which would hide it from visitors. */
export async function examineApi({ api, upstream, routes = [] }: ApiKeys): Promise<readonly Found[]> {
  const upstreams = upstream === undefined ? routes : [...routes, { upstreams: [upstream] }]
  const origins = api.enabled ? upstreams.filter((route) => route.upstreams?.[0] !== undefined) : []
  if (origins.length === 0) return []
  const path = `${api.base}/v1`
  const found = await Promise.all(origins.map(async (route) => ({ route, isTaken: await hasPath(route, path) })))
  const taken = found.filter(({ isTaken }) => isTaken)
  const advice = 'Move the API of the gate with api: { base: /sallyport }, or disable it with api: { enabled: false }.'
  return taken.length === 0
    ? [{ state: 'ok', found: `No origin has a page at ${path}, where the gate serves its API.` }]
    : taken.map(({ route }): Found => {
        const found = `${route.upstreams?.[0]} has its own ${path}, but visitors get the API of the gate there.`
        return { state: 'warn', found, advice, path: ['api'] }
      })
}

/** Reports whether an origin answers a path otherwise than an unknown one; false where it is silent, which another check reports. */
async function hasPath({ upstreams = [], ca, host }: Route, path: string): Promise<boolean> {
  try {
    const address = originAddress(upstreams[0] ?? '')
    const connect = connectorTo(address, CONNECT_MS, readTrust(ca, 'ca'))
    const origin = new Client(address.url, { connect, headersTimeout: CONNECT_MS })
    const named = host === undefined || host.startsWith('*') ? address.url.host : host
    const ask = async (path: string) => {
      const headers = { host: named, 'user-agent': 'sallyport-doctor', accept: 'application/json' }
      const { statusCode, headers: fields, body } = await origin.request({ method: 'GET', path, headers })
      body.on('error', () => {}).destroy()
      return `${statusCode} ${fields['content-type'] ?? ''}`
    }
    try {
      const [at, missing] = [await ask(path), await ask(`${path}-sallyport-doctor`)]
      return at !== missing
    } finally {
      await origin.destroy()
    }
  } catch {
    return false
  }
}

/** Reports whether an address is free for a gate, or a gate listens there. */
async function mayBeOurs(address: string): Promise<boolean> {
  const { state } = await askServer(`http://${address}`, [])
  if (state !== 'ok') return true
  const answer = await fetch(`http://${address}/healthz`, { signal: AbortSignal.timeout(CONNECT_MS) }).catch(
    () => undefined,
  )
  return (await answer?.text())?.trim() === '{"status":"ok"}'
}

/** Connects to a server, and sends nothing. */
async function askServer(text: string, path: readonly (string | number)[]): Promise<Found> {
  const advice = 'Start the origin, or correct its address. Until then, visitors get 502.'
  try {
    const { url, socketPath } = originAddress(text)
    if (socketPath !== undefined && !existsSync(socketPath)) throw new Error('the socket does not exist')
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const socket = connect(socketPath === undefined ? { host, port } : { path: socketPath })
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) })
      return { state: 'ok', found: `${text} accepts connections.` }
    } finally {
      socket.on('error', () => {}).destroy()
    }
  } catch (error) {
    return { state: 'fail', found: `${text} cannot be reached: ${connectFault(error)}.`, advice, path, passing: true }
  }
}

function connectFault(error: unknown): string {
  if (errorCode(error) === 'ABORT_ERR') return `it does not respond within ${CONNECT_MS / 1_000} s`
  return connectionReason(error) ?? errorCode(error)
}

function describeFault(error: unknown): string {
  const text = error instanceof SallyportError ? error.message.replace(/^[\w.]+: /, '') : String(error)
  return `${text.replace(/\.$/, '')}.`
}
