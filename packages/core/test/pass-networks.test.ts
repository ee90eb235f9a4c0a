import t from 'tap'
import { createPassNetworks } from '../src/challenge/pass-networks.ts'
import { makeAddress as at, createFakeCounts } from '../src/testing/fakes.ts'

const HOUR = 3_600_000

/** Makes the networks of machines that share counts and a clock. */
function setUp(machines = 1) {
  const clock = { time: 1_790_000_000_000 }
  const counts = createFakeCounts({ now: () => clock.time })
  const networks = Array.from({ length: machines }, () => createPassNetworks(counts))
  const holds = (address: string, pass = 'one', machine = 0) => networks[machine]?.holds(pass, at(address), clock.time)
  return { clock, counts, holds }
}

t.test('a pass that is seen from a fifth network within an hour is lost until that hour is over', async (t) => {
  const { clock, holds } = setUp()
  for (let host = 1; host < 200; host += 7) t.ok(holds(`198.51.100.${host}`), 'addresses of one network')
  for (const address of ['203.0.113.9', '192.0.2.1', '2001:db8:1::1', '2001:db8:1:ffff::1'])
    t.ok(holds(address), address)
  t.notOk(holds('2001:db8:2::1'), 'the fifth')
  t.notOk(holds('198.51.100.1'), 'and the first no more')
  t.ok(holds('2001:db8:2::1', 'another'))
  clock.time += HOUR + 1
  t.ok(holds('198.51.100.1'))
})

t.test('a visitor who walks slowly loses nothing', async (t) => {
  const { clock, holds } = setUp()
  for (let day = 0; day < 40; day++) {
    t.ok(holds(`198.51.${day}.1`))
    clock.time += HOUR / 3
  }
})

t.test('machines that share counts see the networks of all, and count each once', async (t) => {
  const { clock, holds } = setUp(4)
  for (const machine of [0, 1, 2, 3]) {
    for (let network = 0; network < 4; network++)
      t.ok(holds(`198.51.${network}.1`, 'one', machine), 'the same four everywhere')
  }
  t.notOk(holds('198.51.4.1'))
  t.ok(holds('198.51.0.1', 'one', 1), 'a minute may pass until the others hear of it')
  clock.time += 60_000
  t.notOk(holds('198.51.0.1', 'one', 1))
  t.notOk(holds('198.51.9.1', 'one', 2), 'at a new network at once')
})

t.test('who stays where he is costs one question a minute', async (t) => {
  const { clock, counts, holds } = setUp()
  for (let asked = 0; asked < 600; asked++) {
    holds('198.51.100.1')
    holds('198.51.100.2')
    clock.time += 100
  }
  t.equal(counts.taken.length, 3, 'the three parts of the first question')
  holds('198.51.100.1')
  t.equal(counts.taken.length, 4)
})

t.test('late counts are heard at the next request, and failed ones cost nothing', async (t) => {
  const now = 1_790_000_000_000
  const local = createFakeCounts({ now: () => now })
  const slow = createPassNetworks({ ...local, take: async (tasks, flight) => local.take(tasks, flight) })
  for (let network = 0; network < 5; network++) t.ok(slow.holds('one', at(`198.51.${network}.1`), now))
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(slow.holds('one', at('198.51.0.1'), now))
  const faults: unknown[] = []
  const fail = (): never => {
    throw new Error('away')
  }
  for (const take of [() => Promise.reject(new Error('away')), fail]) {
    const away = createPassNetworks({ ...local, take }, (error) => faults.push(error))
    for (let network = 0; network < 9; network++) t.ok(away.holds('two', at(`198.51.${network}.1`), now))
  }
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(faults.length, 18)
})
