import t from 'tap'
import { type Address, parseAddress } from '../src/address/address.ts'
import { createPassNetworks } from '../src/challenge/pass-networks.ts'
import { createFakeCounts } from '../src/testing/fakes.ts'

const HOUR = 3_600_000
const at = (text: string): Address => parseAddress(text) as Address

t.test('a pass that is seen from a fifth network within an hour is lost until that hour is over', async (t) => {
  const clock = { time: 1_790_000_000_000 }
  const networks = createPassNetworks(createFakeCounts({ now: () => clock.time }))
  const holds = (address: string): boolean => networks.holds('one', at(address), clock.time)
  for (let host = 1; host < 200; host += 7) t.ok(holds(`198.51.100.${host}`), 'addresses of one network')
  for (const address of ['203.0.113.9', '192.0.2.1', '2001:db8:1::1', '2001:db8:1:ffff::1'])
    t.ok(holds(address), address)
  t.notOk(holds('2001:db8:2::1'), 'the fifth')
  t.notOk(holds('198.51.100.1'), 'and the first no more')
  t.ok(networks.holds('another', at('2001:db8:2::1'), clock.time))
  clock.time += HOUR + 1
  t.ok(holds('198.51.100.1'))
})

t.test('a visitor who walks slowly loses nothing', async (t) => {
  const clock = { time: 1_790_000_000_000 }
  const networks = createPassNetworks(createFakeCounts({ now: () => clock.time }))
  for (let day = 0; day < 40; day++) {
    t.ok(networks.holds('one', at(`198.51.${day}.1`), clock.time))
    clock.time += HOUR / 3
  }
})

t.test('machines that share counts see the networks of all, and count each once', async (t) => {
  const clock = { time: 1_790_000_000_000 }
  const counts = createFakeCounts({ now: () => clock.time })
  const machines = [1, 2, 3, 4].map(() => createPassNetworks(counts))
  const holds = (machine: number, address: string): boolean =>
    (machines[machine] as (typeof machines)[number]).holds('one', at(address), clock.time)
  for (const machine of [0, 1, 2, 3]) {
    for (let network = 0; network < 4; network++)
      t.ok(holds(machine, `198.51.${network}.1`), 'the same four everywhere')
  }
  t.notOk(holds(0, '198.51.4.1'))
  t.ok(holds(1, '198.51.0.1'), 'a minute may pass until the others hear of it')
  clock.time += 60_000
  t.notOk(holds(1, '198.51.0.1'))
  t.notOk(holds(2, '198.51.9.1'), 'at a new network at once')
})

t.test('who stays where he is costs one question a minute', async (t) => {
  const clock = { time: 1_790_000_000_000 }
  const counts = createFakeCounts({ now: () => clock.time })
  const networks = createPassNetworks(counts)
  const home = at('198.51.100.1')
  for (let asked = 0; asked < 600; asked++) {
    networks.holds('one', home, clock.time)
    networks.holds('one', at('198.51.100.2'), clock.time)
    clock.time += 100
  }
  t.equal(counts.taken.length, 3, 'the three parts of the first question')
  networks.holds('one', home, clock.time)
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
