import { once } from 'node:events'
import { request as ask, type IncomingMessage } from 'node:http'
import { request as askSecurely } from 'node:https'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Dns, errorCode, formatAddress, parseAddress } from '@sallyport/core'
import type { Config } from '#config'
import { type CheckResult, fail, failNow, ok, warn } from '#service'
import { parseHostPort } from '#settings'

/** A name that exists as long as names do. */
const KNOWN_NAME = 'a.root-servers.net'

/** A checked crawler waits as long for an answer; slower ones are late for it. */
const SLOW_MS = 200

/** Whether names are answered, and how quickly. */
export async function examineDns(config: Config, dns: Dns): Promise<readonly CheckResult[]> {
  if (!config.net.outbound) return [ok('DNS is not used, because net.outbound is false.')]
  const { servers, timeoutMs } = config.dns
  const resolvers = servers.length === 0 ? 'the resolvers of this machine' : servers.join(', ')
  const before = performance.now()
  const answer = await dns.resolve(KNOWN_NAME)
  const took = Math.round(performance.now() - before)
  const advice = 'Crawler verification needs DNS. Check /etc/resolv.conf, or set dns.servers.'
  switch (answer.state) {
    case 'failed':
      return [fail(`No response from ${resolvers} within ${timeoutMs} ms: ${answer.reason}.`, advice)]
    case 'absent':
      return [warn(`${resolvers} cannot resolve ${KNOWN_NAME}; they resolve internal names only.`, advice)]
    case 'found': {
      const found = `Response from ${resolvers} in ${took} ms.`
      if (took < SLOW_MS) return [ok(found)]
      return [warn(found, 'Use a local resolver (unbound, systemd-resolved) for faster responses.')]
    }
  }
}

/** Whether what is believed of the client's address fits where the proxy listens. */
export function examineTrust(config: Config): readonly CheckResult[] {
  return [...examineClientTrust(config), ...examineJa4(config)]
}

function examineJa4({ trustProxy, ja4Header, tls }: Config): readonly CheckResult[] {
  if (ja4Header !== undefined && trustProxy.length === 0) {
    return [warn(`${ja4Header} is never read, because no proxy is trusted.`, 'Add the proxy to trustProxy.')]
  }
  if (ja4Header === undefined && tls === undefined) return []
  const proxied = ja4Header === undefined ? 'is unknown behind proxies' : `is read from ${ja4Header} behind proxies`
  const own = tls === undefined ? 'direct clients have no JA4' : 'for direct clients, it is computed from TLS'
  return [ok(`JA4 ${proxied}; ${own}.`)]
}

function examineClientTrust({ listen, trustProxy, clientHeader }: Config): readonly CheckResult[] {
  if (trustProxy.length > 0) return [ok(`${clientHeader} is trusted from ${trustProxy.join(', ')}.`)]
  if (isLocal(listen)) {
    return [
      warn(
        `Only this machine can reach ${listen}, and no proxy is trusted, so every visitor has the address of this machine.`,
        'If a proxy on this machine is in front, set trustProxy: [loopback]. Otherwise, listen on an address that visitors can reach.',
      ),
    ]
  }
  if (clientHeader === 'x-forwarded-for')
    return [ok('No proxy is trusted, so the client address is the socket address.')]
  return [warn(`${clientHeader} is never read, because no proxy is trusted.`, 'Add the proxy to trustProxy.')]
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
  return [
    listenerFound('listen', listen, main, await isGate(listen, main, tls !== undefined)),
    ...(http === undefined ? [] : [listenerFound('http', http, plain, await isGate(http, plain, false))]),
    // Without an address of its own the command goes on without health.
    ...(admin === undefined && operator !== undefined && !isOurs
      ? [warn(`admin: ${adminAt} is in use: there is no health and no metrics.`, 'Use another address.', ['admin'])]
      : [listenerFound('admin', adminAt, operator, isOurs)]),
    ...(isLocal(adminAt)
      ? []
      : [
          warn(
            `admin: ${adminAt} can be reached from other machines.`,
            'Allow only monitoring and operators to reach it, and use TLS in front, because requests carry tokens.',
            ['admin'],
          ),
        ]),
  ]
}

function listenerFound(key: string, address: string, fault: string | undefined, isOurs: boolean): CheckResult {
  if (fault === undefined) return ok(`${key}: ${address} is free.`)
  if (fault === 'EADDRINUSE' && isOurs) return ok(`${key}: ${address} is in use by a running Sallyport.`)
  const { found, advice } = FAULTS[fault] ?? { found: `cannot be used: ${fault}`, advice: 'Use another address.' }
  // An address may be free at the start, and another user may have the right.
  return (fault === 'EADDRNOTAVAIL' ? fail : failNow)(`${key}: ${address} ${found}.`, advice, [key])
}

const FAULTS: Readonly<Record<string, { readonly found: string; readonly advice: string }>> = {
  EADDRINUSE: { found: 'is in use by another program', advice: 'Find it with ss -ltnp, or use another port.' },
  EACCES: {
    found: 'is not permitted for this user',
    advice: 'Set AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit, or use a port from 1024.',
  },
  EADDRNOTAVAIL: {
    found: 'is not an address of this machine',
    advice: 'Use 0.0.0.0, [::] or an address from ip addr.',
  },
  ENOTFOUND: { found: 'has an unknown host name', advice: 'Use 0.0.0.0, [::] or an address from ip addr.' },
  EAI_AGAIN: { found: 'has a host name that cannot be resolved now', advice: 'Use an address of this machine.' },
}

/** The code of the fault of listening there for a moment; `undefined` where there is none. */
async function listening(address: string): Promise<string | undefined> {
  const { host, port } = parseHostPort(address)
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
  const { host, port } = parseHostPort(address)
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

/** Reports whether only this machine reaches a listener. */
function isLocal(listener: string): boolean {
  const { host } = parseHostPort(listener)
  const address = parseAddress(host)
  return address === undefined ? host === 'localhost' : /^(127\.|::1$)/.test(formatAddress(address))
}
