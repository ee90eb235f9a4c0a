import t from 'tap'
import { askedFor, HOME, makeRequest, solve, world } from './challenge-world.ts'

const EPOCH = 300_000
const HOUR = 3_600_000
const BORDER = 5_966_667 * EPOCH

t.test('a question holds for five minutes, wherever in an epoch it is made', async (t) => {
  for (const offset of [-1, 0, 1, -29_999, EPOCH / 2, EPOCH - 1]) {
    for (const later of [0, EPOCH, EPOCH + 1, -30_000, -30_001]) {
      const outcome = later > EPOCH || later < -30_000 ? 'expired' : 'a pass'
      const { clock, challenges } = world()
      clock.time = BORDER + offset
      const issued = challenges.issue(makeRequest(), askedFor(1), true)
      // As a cookie it is waited for, which begins with the time in it.
      clock.time += later
      const redeemed = await challenges.redeem(makeRequest(), `${issued.text}.1`, HOME)
      const found = 'refused' in redeemed && redeemed.refused === 'expired' ? 'expired' : 'a pass'
      t.equal(found, outcome, `${offset} ${later}`)
    }
  }
})

t.test('a question outlives questions of many epochs before it, and forged times make no key', async (t) => {
  const { clock, challenges } = world()
  for (let epoch = 0; epoch < 20; epoch++) {
    challenges.issue(makeRequest(), askedFor(2), true)
    clock.time += EPOCH
  }
  const issued = challenges.issue(makeRequest(), askedFor(2))
  const bytes = Buffer.from(issued.text, 'base64url')
  for (let epoch = -500; epoch < 500; epoch++) {
    bytes.writeUIntBE(clock.time + epoch * EPOCH, 2, 6)
    const redeemed = await challenges.redeem(makeRequest(), `${bytes.toString('base64url')}.1`, HOME)
    t.match(redeemed, { refused: Math.abs(epoch) > 1 ? 'expired' : /^(?:expired|forged|wrong)$/ })
  }
  t.match(await challenges.redeem(makeRequest(), solve(issued), HOME), { level: 2 })
})

t.test('a clock that jumps back an hour lets no spent question be answered again', async (t) => {
  const { clock, challenges } = world()
  const solution = solve(challenges.issue(makeRequest(), askedFor(2)))
  t.match(await challenges.redeem(makeRequest(), solution, HOME), { level: 2 })
  for (const jump of [-HOUR, HOUR, -29_000, 29_000, HOUR, -HOUR]) {
    clock.time += jump
    const redeemed = await challenges.redeem(makeRequest(), solution, HOME)
    t.match(redeemed, { refused: /^(?:expired|spent)$/ }, `${jump}`)
  }
})
