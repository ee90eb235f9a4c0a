import { once } from 'node:events'
import { connect } from 'node:http2'
import { createMetrics } from '@sallyport/engine/metrics'
import t, { type Test } from 'tap'
import type { ProxyHost, ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, dial, exchange, get, OK, readStatus, readUntil, until } from './wire.ts'

/* An error while one exchange is handled ends that exchange: it is answered or cut, counted, and told once. */

const skip = NO_OPENSSL

function throwing(): never {
  throw new Error('a bug')
}

/** A throw at the first request that is marked, and at no other one. */
const isMarked = (target = ''): boolean => target.includes('marked')

interface Bug {
  readonly host?: ((meter: ReturnType<typeof createMetrics>) => Partial<ProxyHost>) | undefined
  readonly options?: ProxyOptions | undefined
  readonly answer?: Answer | string | undefined
}

const decidedFor =
  (host: ReturnType<typeof fakeSallyport>, work: () => void) => (request: Parameters<typeof host.decide>[0]) => {
    if (isMarked(request.target)) work()
    return host.decide(request)
  }

const CONFLICT = 'HTTP/1.1 200 OK\r\nETag: "a"\r\nETag: "b"\r\nContent-Length: 2\r\n\r\nok'
const conflicting: Answer = (socket, head) => void socket.write(isMarked(head) ? CONFLICT : OK)
const failing: Answer = (socket, head) => void (isMarked(head) ? socket.destroy() : socket.write(OK))

/** A meter that throws at one row of the table. */
const meterWithout =
  (broken: string) =>
  (meter: ReturnType<typeof createMetrics>): Partial<ProxyHost> => ({
    meter: { ...meter, add: (id, ...rest) => (id === broken ? throwing() : meter.add(id, ...rest)) },
  })

const BUGS: Readonly<Record<string, Bug>> = {
  'as it is decided': { host: () => ({ decide: decidedFor(fakeSallyport(), throwing) }) },
  'in a hook for decisions': {
    options: { onDecision: (_, { target }) => (isMarked(target) ? throwing() : undefined) },
  },
  'after it was counted elsewhere': {
    host: () => ({ count: async (decision) => ({ decision }) }),
    options: { onDecision: (_, { target }) => (isMarked(target) ? throwing() : undefined) },
  },
  'as a fault of the origin is counted': { host: meterWithout('originFailures'), answer: failing },
  'in a hook for failures of the origin': { options: { onOriginFailure: throwing }, answer: failing },
  'as a field is counted': { host: meterWithout('fieldConflicts'), answer: conflicting },
}

async function open(t: Test, { host, options, answer = OK }: Bug) {
  const faults: unknown[] = []
  const meter = createMetrics()
  const sallyport = { ...fakeSallyport(), meter, observe: meter.observe, ...host?.(meter) }
  const tls = { certificates: [makeCertificate(certificateFolder(t), ['site.example'])] }
  const onFault = (error: unknown): void => {
    faults.push(error)
    throwing()
  }
  const before = await proxyBefore(t, answer, { sallyport, tls, http: '127.0.0.1:0', onFault, ...options })
  const session = connect(before.url, { rejectUnauthorized: false })
  t.teardown(() => session.destroy())
  await once(session, 'connect')
  const http2 = async (path: string): Promise<number> => {
    const stream = session.request({ ':path': path, ':authority': 'site.example' }).on('error', () => {})
    let status = 0
    stream.on('response', (fields) => (status = Number(fields[':status']))).resume()
    await new Promise((resolve) => stream.once('close', resolve))
    return status
  }
  const url = String(before.proxy.httpUrl)
  const http1 = async (path: string): Promise<number> => readStatus(await exchange(url, get(path)))
  const scrape = async (): Promise<string> => (await fetch(`${before.proxy.adminUrl}/metrics`)).text()
  return { url, http1, http2, faults, scrape }
}

for (const [name, bug] of Object.entries(BUGS)) {
  t.test(`a bug ${name}`, { skip }, async (t) => {
    const { http1, http2, faults, scrape } = await open(t, bug)
    for (const ask of [http1, http2]) {
      faults.length = 0
      t.equal(await ask('/marked'), 500)
      t.equal(faults.length, 1, 'told once')
      t.equal(await ask('/other'), 200, 'and the next one is served')
    }
    t.match(await scrape(), 'sallyport_refusals_total{cause="fault"} 2\n')
  })
}

t.test('a bug at the end of an exchange, when others wait for what it held', { skip }, async (t) => {
  const { decide } = fakeSallyport()
  let ends = 0
  const host = (): Partial<ProxyHost> => ({
    decide,
    count: (decision) => ({ decision, ended: () => (ends++ === 0 ? throwing() : undefined) }),
  })
  const { http1, http2, faults } = await open(t, { host, options: { limits: { inFlight: 1 } } })
  t.same(await Promise.all([http1('/'), http2('/'), http1('/'), http2('/')]), [200, 200, 200, 200])
  await until(() => ends === 4)
  t.equal(faults.length, 1)
})

t.test('a bug before there is an exchange', { skip }, async (t) => {
  const { isTrusted } = fakeSallyport()
  let asked = 0
  let throws = false
  // Connections ask first, and requests that bring an id after them.
  const host = (): Partial<ProxyHost> => ({
    isTrusted: (peer) => (throws && asked++ % 2 ? throwing() : isTrusted?.(peer) === true),
  })
  const { url, http1, http2, faults, scrape } = await open(t, { host })
  // The HTTP/2 connection stands before anything throws.
  t.equal(await http2('/'), 200)
  throws = true
  asked = 0
  t.equal(await exchange(url, get('/', 'X-Request-Id: a')), '')
  const client = await dial(url)
  const closed = readUntil(client)
  const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'X-Request-Id: a', '', '']
  client.write(['GET / HTTP/1.1', 'Host: site.example', ...handshake].join('\r\n'))
  t.equal(await closed, '')
  t.equal(faults.length, 2)
  throws = false
  t.equal(await http1('/'), 200)
  t.match(await scrape(), 'sallyport_refusals_total{cause="fault"} 2')
})
