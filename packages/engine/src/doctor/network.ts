import { once } from 'node:events'
import { request as ask, type IncomingMessage } from 'node:http'
import { request as askSecurely } from 'node:https'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Dns, errorCode, formatAddress, parseAddress, reservedRow } from '@sallyport/core'
import type { Config } from '#config'
import { type CheckResult, fail, failNow, ok, warn } from '#service'
import { hostPortOf } from '#settings'

/** A name that exists as long as names do. */
const KNOWN_NAME = 'a.root-servers.net'

/** A checked crawler waits as long for an answer; slower ones are late for it. */
const SLOW_MS = 200

/** Whether names are answered, and how quickly. */
export async function examineDns(config: Config, dns: Dns): Promise<readonly CheckResult[]> {
  if (!config.net.outbound) return [ok('Nothing is asked: net.outbound is false.')]
  const { servers, timeoutMs } = config.dns
  const asked = servers.length === 0 ? 'the resolvers of this machine' : servers.join(', ')
  const before = performance.now()
  const answer = await dns.resolve(KNOWN_NAME)
  const took = Math.round(performance.now() - before)
  const advice = 'Crawlers are checked by their names: see /etc/resolv.conf, or name dns.servers that answer.'
  switch (answer.state) {
    case 'failed':
      return [fail(`No answer from ${asked} within ${timeoutMs} ms: ${answer.reason}.`, advice)]
    case 'absent':
      return [warn(`${asked} do not know ${KNOWN_NAME}: they resolve internal names only.`, advice)]
    case 'found':
      return took < SLOW_MS
        ? [ok(`Answered by ${asked} in ${took} ms.`)]
        : [
            warn(
              `Answered by ${asked} in ${took} ms.`,
              'A resolver on this machine is quicker (unbound, systemd-resolved).',
            ),
          ]
  }
}

/** Whether what is believed of the client's address fits where the proxy listens. */
export function examineTrust({ listen, trustProxy, clientHeader }: Config): readonly CheckResult[] {
  const { host } = hostPortOf(listen)
  if (trustProxy.length > 0) return [ok(`${clientHeader} is believed from ${trustProxy.join(', ')}.`)]
  if (isLoopback(host)) {
    return [
      warn(
        `Only this machine reaches ${listen}, and no proxy is trusted: every visitor has its address.`,
        'trustProxy: [loopback] where a proxy of this machine stands in front; else listen on an address that visitors reach.',
      ),
    ]
  }
  return [
    clientHeader === 'x-forwarded-for'
      ? ok('No proxy is trusted: visitors are judged by the address of the socket.')
      : warn(`${clientHeader} is named, and no proxy is trusted: it is never read.`, 'Name the proxy in trustProxy.'),
  ]
}

/** Whether the listeners can be had, or are this service's own already. */
export async function examineListeners(config: Config): Promise<readonly CheckResult[]> {
  const { listen, http, admin, tls, proxyProtocol } = config
  const adminAt = admin ?? '127.0.0.1:9090'
  // One after the other: two that are the same would be in each other's way.
  const main = await listening(listen)
  const plain = http === undefined ? undefined : await listening(http)
  const operator = await listening(adminAt)
  const isOurs = operator === 'EADDRINUSE' && (await isSallyport(adminAt))
  // Another program may have the address that a running gate is to listen on next.
  const isGate = async (address: string, fault: string | undefined, isSecure: boolean): Promise<boolean> =>
    isOurs && fault === 'EADDRINUSE' && (proxyProtocol !== false || (await answersAsGate(address, isSecure)))
  const { host } = hostPortOf(adminAt)
  return [
    listenerFound('listen', listen, main, await isGate(listen, main, tls !== undefined)),
    ...(http === undefined ? [] : [listenerFound('http', http, plain, await isGate(http, plain, false))]),
    // Without a place of its own the command goes on without health.
    ...(admin === undefined && operator !== undefined && !isOurs
      ? [warn(`admin: ${adminAt} is taken: there is no health and no metrics.`, 'Name another one: admin.', ['admin'])]
      : [listenerFound('admin', adminAt, operator, isOurs)]),
    ...(isLoopback(host)
      ? []
      : [
          warn(
            `admin: ${adminAt} can be reached from outside this machine.`,
            'Let only monitoring and operators reach it, and put TLS in front: tokens travel.',
            ['admin'],
          ),
        ]),
  ]
}

function listenerFound(key: string, address: string, fault: string | undefined, isOurs: boolean): CheckResult {
  if (fault === undefined) return ok(`${key}: ${address} is free.`)
  if (fault === 'EADDRINUSE' && isOurs) return ok(`${key}: ${address} is in use, and a Sallyport runs here.`)
  const { found, advice } = FAULTS[fault] ?? { found: `cannot be used: ${fault}`, advice: 'Name another address.' }
  // An address may be free at the start, and another user may have the right.
  return (fault === 'EADDRNOTAVAIL' ? fail : failNow)(`${key}: ${address} ${found}.`, advice, [key])
}

const FAULTS: Readonly<Record<string, { readonly found: string; readonly advice: string }>> = {
  EADDRINUSE: { found: 'is taken by another program', advice: 'ss -ltnp shows which; stop it, or name another port.' },
  EACCES: {
    found: 'is not permitted to this user',
    advice: 'AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit, or a port from 1024 on.',
  },
  EADDRNOTAVAIL: {
    found: 'is not an address of this machine',
    advice: '0.0.0.0 or [::] is any address; ip addr shows them.',
  },
  ENOTFOUND: { found: 'has a name that is not known', advice: '0.0.0.0 or [::] is any address; ip addr shows them.' },
  EAI_AGAIN: { found: 'has a name that cannot be looked up now', advice: 'Name an address of this machine.' },
}

/** The code of the fault of listening there for a moment; `undefined` where there is none. */
async function listening(address: string): Promise<string | undefined> {
  const { host, port } = hostPortOf(address)
  const server = createServer().listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
    return undefined
  } catch (error) {
    return errorCode(error)
  } finally {
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
}

async function isSallyport(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`http://${address}/healthz`, { signal: AbortSignal.timeout(2_000) })
    return (await answer.text()).trim() === '{"status":"ok"}'
  } catch {
    return false
  }
}

/** Whether a proxy of ours answers at an address: it alone has an ErrorResponse for a request without Host. */
async function answersAsGate(address: string, isSecure: boolean): Promise<boolean> {
  const { host, port } = hostPortOf(address)
  const at = { host: ANY[host] ?? host, port, setHost: false, agent: false, timeout: PROOF_MS }
  try {
    const request = isSecure ? askSecurely({ ...at, rejectUnauthorized: false }) : ask(at)
    request.on('timeout', () => request.destroy()).end()
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    return (await text(answer)).startsWith('{"error":"invalid_request",')
  } catch {
    return false
  }
}

const PROOF_MS = 2_000

/** Addresses at which a listener on any address is reached. */
const ANY: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

function isLoopback(host: string): boolean {
  const address = parseAddress(host)
  if (address === undefined) return host === 'localhost'
  return reservedRow(address) !== undefined && /^(127\.|::1$)/.test(formatAddress(address))
}
