import t from 'tap'
import { createChallengeSecrets } from '../src/challenge/secrets.ts'
import { createFakeCounts } from '../src/testing/fakes.ts'
import { earnPass, makeRequest, SECRET, seePass, waitForPass, world } from './challenge-world.ts'

const HOUR = 3_600_000

t.test('a pass in use is renewed once half of its time is over: the same pass, for as long once more', async (t) => {
  const at = world()
  const first = await earnPass(at)
  const { pass } = seePass(at, first)
  at.clock.time += 6 * HOUR - 1_000
  t.equal(seePass(at, first).renewed, undefined)
  at.clock.time += 1_000
  const { renewed } = seePass(at, first)
  t.match(renewed, { maxAge: 43_200 })
  const second = renewed?.pass ?? ''
  t.match(seePass(at, second), { pass: { id: pass?.id, level: 2, age: 0 }, renewed: undefined })
  at.clock.time += 11 * HOUR
  t.equal(seePass(at, first).pass, undefined, 'the first ends at its own time')
  t.match(seePass(at, second).pass, { id: pass?.id, level: 2 })
  const { challenges, clock } = at
  const foreign = (described: Parameters<typeof makeRequest>[0], network: 'mobile' | 'hosting' = 'mobile') =>
    challenges.findPass(makeRequest({ cookie: `sallyport=${second}`, ...described }), network, clock.now())
  t.notOk(foreign({ userAgent: 'curl/8.9' }), 'it is bound as the first')
  t.notOk(foreign({ host: 'other.example' }))
  t.notOk(foreign({}, 'hosting'), 'and was given to a home line')
})

t.test('three times, so that it ends after four times its time', async (t) => {
  const at = world()
  const start = at.clock.time
  let value = await earnPass(at)
  for (let times = 0; times < 3; times++) {
    at.clock.time += 12 * HOUR - 1_000
    value = seePass(at, value).renewed?.pass ?? ''
  }
  at.clock.time += 12 * HOUR - 1_000
  t.match(seePass(at, value), { pass: { level: 2 }, renewed: undefined })
  at.clock.time += 1_000
  t.equal(seePass(at, value).pass, undefined)
  t.ok(at.clock.time - start <= 48 * HOUR)
})

t.test('what was waited for in place of work, or could not be counted everywhere, is not renewed', async (t) => {
  const at = world()
  const waited = await waitForPass(at)
  at.clock.time += HOUR / 2
  t.match(seePass(at, waited), { pass: { level: 2 }, renewed: undefined })
})

t.test('a secret that is on its way out renews nothing', async (t) => {
  const old = world()
  const value = await earnPass(old)
  const secrets = createChallengeSecrets(['the secret that came after that one', SECRET])
  const at = world({ secrets, clock: old.clock, counts: createFakeCounts(old.clock) })
  at.clock.time += 11 * HOUR
  t.match(seePass(at, value), { pass: { level: 2 }, renewed: undefined })
})
