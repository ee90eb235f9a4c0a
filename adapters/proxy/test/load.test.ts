import t from 'tap'
import { proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

t.test('rules read how near requests in flight and the queue of an origin are to their limits', async (t) => {
  let load = (): number => Number.NaN
  const sallyport = Object.assign(fakeSallyport(), {
    load: {
      read(source: () => number) {
        load = source
      },
    },
  })
  const held: (() => void)[] = []
  let came = (): void => {}
  const { url, proxy } = await proxyBefore(
    t,
    (socket) => {
      held.push(() => socket.write(OK, 'latin1'))
      came()
    },
    { sallyport, limits: { inFlight: 10, originConnections: 2, originQueue: 4 } },
  )
  t.equal(load(), 0)
  const arrived = (count: number) =>
    new Promise<void>((resolve) => {
      came = () => held.length === count && resolve()
    })
  const two = arrived(2)
  const answers = [exchange(url, get('/')), exchange(url, get('/'))]
  await two
  t.equal(load(), 0.2, 'two of ten in flight')
  answers.push(...Array.from({ length: 3 }, () => exchange(url, get('/'))))
  while (load() !== 0.75) await new Promise((resolve) => setImmediate(resolve))
  t.equal(load(), 0.75, 'three of four wait for a connection')
  await proxy.reload({ upstream: proxy.upstream, limits: { inFlight: 20, eventLoopDelay: '1m' } })
  t.equal(load(), 0, 'of what serves now')
  came = () => held.pop()?.()
  for (const release of held.splice(0)) release()
  t.same((await Promise.all(answers)).map(readStatus), [200, 200, 200, 200, 200])
})
