import type { ConfigInput } from '@sallyport/engine'
import { NO_REDIS, startRedis } from '@sallyport/engine/testing'
import t from 'tap'
import { readSolution, redeem, visit } from '../hosts/challenge-client.ts'
import { openOrigin, pickLength, startGate } from './gate.ts'

/* A burst at two machines that serve others makes one Redis late: a late answer is no outage, and a spend waits for it. */
const ROUNDS = pickLength(25, 3)
const REPLAYS = 200
const VISITORS = pickLength(32, 8)
const COUNTED = { key: 'client', window: '1h', kind: 'fixed', max: 10_000_000 } as const

t.test(`one solution ${REPLAYS} times at once, over two machines at load: one pass`, { skip: NO_REDIS }, async (t) => {
  const { url: redis } = await startRedis(t)
  const upstream = await openOrigin(t)
  const config = {
    redis,
    trustProxy: ['loopback'],
    challenge: { secret: 'a secret that both of these machines know' },
    policy: {
      preset: 'observe',
      rules: [
        { id: 'asked', match: { path: ['/asked'] }, action: 'challenge', challenge: { level: 2 } },
        { id: 'load', match: { path: ['/load'] }, limit: COUNTED, action: 'throttle' },
      ],
    },
  } satisfies ConfigInput
  const machines = await Promise.all([startGate(t, upstream, config), startGate(t, upstream, config)])
  let isOver = false
  const load = machines.flatMap((machine) =>
    Array.from({ length: VISITORS }, async (_, at) => {
      while (!isOver) await visit(machine, { target: '/load', address: `81.130.7.${at}` })
    }),
  )
  for (let round = 1; round <= ROUNDS; round++) {
    const solution = readSolution(await visit(machines[0], { target: '/asked', address: '73.162.10.20' }))
    const answers = await Promise.all(
      Array.from({ length: REPLAYS }, (_, at) =>
        redeem(machines[at % 2] ?? machines[0], solution, { address: `93.184.216.${at}` }),
      ),
    )
    t.equal(answers.filter(({ status }) => status === 204).length, 1, `round ${round}`)
  }
  isOver = true
  await Promise.all(load)
})
