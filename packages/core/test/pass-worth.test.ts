import t from 'tap'
import type { ChallengesOptions } from '../src/challenge/terms.ts'
import { createChallengeSecrets, type InspectedPass, type RuleChallenge } from '../src/index.ts'
import { compileChallenge } from '../src/policy/compile/challenge-terms.ts'
import { askedFor, earnPass, HOME, makeRequest, SECRET, seePass, waitForPass, world } from './challenge-world.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

const seen = (...of: Parameters<typeof seePass>) => seePass(...of).pass

function isAnswered(pass: InspectedPass | undefined, challenge: RuleChallenge): boolean {
  const asks = { id: 'ask', match: {}, action: 'challenge' } as const
  const compiled = compileChallenge({ ...asks, challenge: { level: 2, ...challenge } })
  return (compiled?.answeredUntil(pass) ?? 0) > 0
}

t.test('script: required is not opened by a pass that was waited for elsewhere', async (t) => {
  const at = world()
  t.ok(isAnswered(seen(at, await earnPass(at, DAY)), { script: 'required' }))
  const other = seen(at, await waitForPass(at, DAY))
  t.notOk(isAnswered(other, { script: 'required' }))
  t.ok(isAnswered(other, {}))
})

t.test('a pass of a month answers a rule of five minutes for five minutes', async (t) => {
  const at = world()
  const month = await earnPass(at, 31 * DAY)
  t.ok(isAnswered(seen(at, month), { pass: '5m' }))
  at.clock.time += 5 * MINUTE
  t.notOk(isAnswered(seen(at, month), { pass: '5m' }))
  t.ok(isAnswered(seen(at, month), { pass: '31d' }))
  at.clock.time += 16 * DAY
  const renewed = seePass(at, month).renewed?.pass ?? ''
  t.notOk(isAnswered(seen(at, renewed), { pass: '5m' }), 'nor once it is renewed')
  t.ok(isAnswered(seen(at, renewed), { pass: '31d' }))
  const short = await earnPass(at, 5 * MINUTE)
  at.clock.time += 3 * MINUTE
  const again = seePass(at, short).renewed?.pass ?? ''
  at.clock.time += 4 * MINUTE
  t.ok(isAnswered(seen(at, again), { pass: '5m' }), 'one of its own is renewed as before')
  const described = { id: 'described-1', level: 2 } as const
  t.ok(isAnswered({ ...described, age: 299 }, { pass: '5m' }), 'and one that is described goes by its age')
  t.notOk(isAnswered({ ...described, age: 300 }, { pass: '5m' }))
})

t.test('over https the names count that no sister site can set', async (t) => {
  const isSecure: ChallengesOptions['isSecure'] = ({ scheme }) => scheme === 'https'
  const at = world({ isSecure })
  const [own, tossed] = [await earnPass(at, DAY), await earnPass(at, DAY)]
  const held = (cookie: string, scheme: 'http' | 'https') =>
    at.challenges.findPass({ ...makeRequest({ cookie }), scheme }, 'mobile', at.clock.now())?.id
  const id = held(`__Host-sallyport=${own}`, 'https')
  t.ok(id)
  t.equal(held(`sallyport=${tossed}`, 'https'), undefined)
  t.ok(held(`sallyport=${tossed}`, 'http'))
  t.equal(held(`${`sallyport=${tossed}; `.repeat(9)}__Host-sallyport=${own}`, 'https'), id)
  const issued = at.challenges.issue(makeRequest(), askedFor(1), true)
  at.clock.time += 1_000
  const brings = (name: string) =>
    at.challenges.hasWaited(makeRequest({ cookie: `${name}=${issued.text}` }), askedFor(1))
  t.same(['__Host-sallyport-challenge', 'sallyport-challenge'].map(brings), [true, false])
})

t.test('who waits gets a pass beside a challenge that was spent before', async (t) => {
  const { challenges, clock } = world()
  const issue = () => challenges.issue(makeRequest(), askedFor(1), true).text
  const spent = issue()
  clock.time += 1_000
  const request = (...texts: readonly string[]) =>
    makeRequest({ cookie: texts.map((text) => `sallyport-challenge=${text}`).join('; ') })
  t.ok('pass' in (await challenges.redeemWaited(request(spent), askedFor(1), HOME)))
  const own = issue()
  t.notOk(challenges.hasWaited(request(spent, own), askedFor(1)), 'its own is waited for')
  t.match(challenges.issue(request(spent, own), askedFor(1)), { text: own, again: true })
  clock.time += 1_000
  t.ok(challenges.hasWaited(request(spent, own), askedFor(1)))
  t.ok('pass' in (await challenges.redeemWaited(request(spent, own), askedFor(1), HOME)))
  t.match(await challenges.redeemWaited(request(spent, own), askedFor(1), HOME), { refused: 'spent' })
})

t.test('passes of earlier versions hold, and show how they were earned as far as they tell', async (t) => {
  const at = world()
  const [secret] = createChallengeSecrets([SECRET])
  const value = await earnPass(at, DAY)
  const sealed = (version: number, left: number, seconds: number): string => {
    const fields = Buffer.from(value, 'base64url').subarray(0, 23)
    fields.writeUInt8(version, 0)
    fields.writeUInt8(2 | (left << 2) | 0x80, 2)
    fields.writeUInt32BE(fields.readUInt32BE(3) + seconds, 7)
    const mac = secret?.passMac(fields, 'shop.example').subarray(0, 16) ?? Buffer.alloc(0)
    return Buffer.concat([fields, mac]).toString('base64url')
  }
  t.match(seen(at, sealed(2, 3, 43_200)), { level: 2, maxAge: 43_200, renewed: undefined, waited: undefined })
  t.match(seen(at, sealed(2, 1, 43_200)), { renewed: true, waited: undefined })
  t.match(seen(at, sealed(1, 0, 43_200)), { renewed: true, waited: undefined })
  t.match(seen(at, sealed(2, 0, 3_600)), { waited: true })
  t.equal(seen(at, sealed(4, 3, 43_200)), undefined)
})
