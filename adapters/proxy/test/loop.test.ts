import { connect, createServer } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { openProxy } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

/** A balancer on loopback: passes each connection on to the next of `urls`, which may be filled later. */
async function openBalancer(t: Test, urls: readonly string[]) {
  let passed = 0
  const server = createServer((socket) => {
    const onward = connect(Number(new URL(urls[passed++ % urls.length] as string).port), '127.0.0.1')
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy())
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.pipe(onward).pipe(socket)
  })
  return { url: `http://127.0.0.1:${await listening(t, server)}`, passed: () => passed }
}

/** Proxies whose origin is a balancer before themselves. */
async function openCircle(t: Test, proxies: number) {
  const urls: string[] = []
  const balancer = await openBalancer(t, urls)
  for (let i = 0; i < proxies; i += 1) {
    const proxy = await openProxy(fakeSallyport(), {
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      upstream: balancer.url,
      limits: { eventLoopDelay: '1m' },
    })
    t.teardown(() => proxy.close('cut'))
    urls.push(proxy.url)
  }
  return { url: urls[0] as string, balancer }
}

const HANDSHAKE = [
  'GET /chat HTTP/1.1',
  'Host: site.example',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
].join('\r\n')

for (const proxies of [1, 3]) {
  t.test(`${proxies === 1 ? 'a proxy' : 'proxies'} whose origin leads back to it`, async (t) => {
    const { url, balancer } = await openCircle(t, proxies)
    for (const bytes of [get('/'), 'POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi', HANDSHAKE]) {
      const before = balancer.passed()
      const answer = await exchange(url, bytes)
      t.equal(readStatus(answer), 508)
      t.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).error, 'loop_detected')
      t.ok(balancer.passed() - before <= 5, 'after a few rounds')
    }
  })
}

t.test('one Sallyport before another is no circle, and the origin sees both', async (t) => {
  const inner = await proxyBefore(t, OK)
  const outer = await proxyBefore(t, OK, { upstream: inner.url })
  const answer = await exchange(outer.url, get('/', 'Via: 1.0 their.example, 1.1 ours.example'))
  t.equal(readStatus(answer), 200)
  t.notMatch(answer, /^via:/im)
  const seen = inner.origin.heads[0]?.match(/^via: .*$/gim)
  t.strictSame(seen, ['Via: 1.0 their.example, 1.1 ours.example', 'Via: 1.1 sallyport', 'Via: 1.1 sallyport'])
})

t.test('the fields that count as having passed through a Sallyport', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const rows: readonly (readonly [status: number, fields: readonly string[]])[] = [
    [200, ['Via: 1.1 sallyport, 1.1 sallyport, 1.1 sallyport, 1.1 sallyport']],
    [508, ['Via: 1.1 sallyport, 1.1 sallyport, 1.1 sallyport, 1.1 sallyport, 1.1 sallyport']],
    [508, ['Via: 1.1 sallyport,1.0 sallyport', 'X: y', 'via: HTTP/1.1 sallyport', 'VIA: 2 sallyport ,3 sallyport']],
    [200, [`Via: ${'1.1 sallyport.example, 1.1 my-sallyport, sallyport, 1.1 other (sallyport), '.repeat(5)}`]],
    [200, [`Vary: ${'1.1 sallyport, '.repeat(9)}`]],
  ]
  const answers = await Promise.all(rows.map(([, fields]) => exchange(url, get('/', ...fields))))
  t.strictSame(
    answers.map(readStatus),
    rows.map(([status]) => status),
  )
  t.equal(origin.heads.length, 3)
})
