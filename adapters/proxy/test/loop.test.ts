import { connect, createServer } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { proxyBefore } from './behind.ts'
import { handshake } from './tunnels.ts'
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

for (const proxies of [1, 3]) {
  t.test(`${proxies === 1 ? 'a proxy' : 'proxies'} whose origin leads back to it`, async (t) => {
    const urls: string[] = []
    const balancer = await openBalancer(t, urls)
    while (urls.length < proxies) urls.push((await proxyBefore(t, OK, { upstream: balancer.url })).url)
    for (const bytes of [get('/'), 'POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi', handshake()]) {
      const before = balancer.passed()
      const answer = await exchange(String(urls[0]), bytes)
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
  for (const [status, fields] of [
    [200, ['Via: 1.1 sallyport, 1.1 sallyport, 1.1 sallyport, 1.1 sallyport']],
    [508, ['Via: 1.1 sallyport, 1.1 sallyport, 1.1 sallyport, 1.1 sallyport, 1.1 sallyport']],
    [508, ['Via: 1.1 sallyport,1.0 sallyport', 'X: y', 'via: HTTP/1.1 sallyport', 'VIA: 2 sallyport ,3 sallyport']],
    [200, [`Via: ${'1.1 sallyport.example, 1.1 my-sallyport, sallyport, 1.1 other (sallyport), '.repeat(5)}`]],
    [200, [`Vary: ${'1.1 sallyport, '.repeat(9)}`]],
  ] as const)
    t.equal(readStatus(await exchange(url, get('/', ...fields))), status, `${fields}`)
  t.equal(origin.heads.length, 3)
})
