import type { Metrics } from '@sallyport/engine/metrics'
import t, { type Test } from 'tap'
import type { ProxyHost, ProxyOptions } from '../src/index.ts'
import { NO_OPENSSL } from './certificate.ts'
import { ask, openHttp2 } from './http2-client.ts'
import { type FakeSallyport, fakeSallyport, meteredSallyport } from './sallyport.ts'
import { handshake } from './tunnels.ts'
import { type Answer, exchange, get, OK, readStatus, until } from './wire.ts'

/* An error while one exchange is handled ends that exchange: it is answered or cut, counted, and told once. */

const skip = NO_OPENSSL

function throwing(): never {
  throw new Error('a bug')
}

/** A throw at the first request that is marked, and at no other one. */
const isMarked = (target = ''): boolean => target.includes('marked')

interface Bug {
  readonly host?: ((meter: Metrics) => Partial<ProxyHost>) | undefined
  readonly options?: ProxyOptions | undefined
  readonly answer?: Answer | string | undefined
}

const { decide } = fakeSallyport()
const decideMarked: typeof decide = (request) => (isMarked(request.target) ? throwing() : decide(request))

const CONFLICT = 'HTTP/1.1 200 OK\r\nETag: "a"\r\nETag: "b"\r\nContent-Length: 2\r\n\r\nok'
const conflicting: Answer = (socket, head) => void socket.write(isMarked(head) ? CONFLICT : OK)
const failing: Answer = (socket, head) => void (isMarked(head) ? socket.destroy() : socket.write(OK))

const meterWithout =
  (broken: string) =>
  (meter: Metrics): Partial<ProxyHost> => ({
    meter: { ...meter, add: (id, ...rest) => (id === broken ? throwing() : meter.add(id, ...rest)) },
  })

const onDecision: ProxyOptions['onDecision'] = (_, { target }) => (isMarked(target) ? throwing() : undefined)
const count: ProxyHost['count'] = async (decision) => ({ decision })

const BUGS: Readonly<Record<string, Bug>> = {
  'as it is decided': { host: () => ({ decide: decideMarked }) },
  'in a hook for decisions': { options: { onDecision } },
  'after it was counted elsewhere': { host: () => ({ count }), options: { onDecision } },
  'as a fault of the origin is counted': { host: meterWithout('originFailures'), answer: failing },
  'in a hook for failures of the origin': { options: { onOriginFailure: throwing }, answer: failing },
  'as a field is counted': { host: meterWithout('fieldConflicts'), answer: conflicting },
}

async function open(t: Test, { host, options, answer = OK }: Bug) {
  const faults: unknown[] = []
  const metered = meteredSallyport()
  const sallyport = { ...metered, ...host?.(metered.meter) } as FakeSallyport
  const onFault = (error: unknown): void => {
    faults.push(error)
    throwing()
  }
  const before = await openHttp2(t, answer, { sallyport, http: '127.0.0.1:0', onFault, ...options })
  const http2 = async (path: string): Promise<number> => (await ask(before.session, { ':path': path })).status
  const url = String(before.proxy.httpUrl)
  const http1 = async (path: string): Promise<number> => readStatus(await exchange(url, get(path)))
  const scrape = async (): Promise<string> => (await fetch(`${before.admin}/metrics`)).text()
  return { url, http1, http2, faults, scrape }
}

for (const [name, bug] of Object.entries(BUGS)) {
  t.test(`a bug ${name}`, { skip }, async (t) => {
    const { http1, http2, faults, scrape } = await open(t, bug)
    for (const request of [http1, http2]) {
      faults.length = 0
      t.equal(await request('/marked'), 500)
      t.equal(faults.length, 1, 'told once')
      t.equal(await request('/other'), 200, 'and the next one is served')
    }
    t.match(await scrape(), 'sallyport_refusals_total{cause="fault"} 2\n')
  })
}

t.test('a bug at the end of an exchange, when others wait for what it held', { skip }, async (t) => {
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
  t.equal(await http2('/'), 200, 'its connection stands before anything throws')
  throws = true
  asked = 0
  t.equal(await exchange(url, get('/', 'X-Request-Id: a')), '')
  t.equal(await exchange(url, handshake('/', 'X-Request-Id: a')), '')
  t.equal(faults.length, 2)
  throws = false
  t.equal(await http1('/'), 200)
  t.match(await scrape(), 'sallyport_refusals_total{cause="fault"} 2')
})
