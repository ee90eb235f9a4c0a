import t from 'tap'
import type { ChallengeProvider, TokenAnswer } from '../src/challenge/provider.ts'
import type { Redeemer } from '../src/values/challenge.ts'
import { askedFor, HOME, makeRequest, solve, world } from './challenge-world.ts'

const SCRIPT = { name: 'Widgets', script: 'https://widgets.example/api.js', origins: [] }
const WIDGET = { ...SCRIPT, element: 'div', attributes: {}, field: 'token' }

/** A provider that answers what it is set to, and the tokens that it was asked about. */
function provider(): ChallengeProvider & { answer: TokenAnswer | Promise<TokenAnswer>; readonly asked: string[] } {
  const asked: string[] = []
  const made = {
    widget: WIDGET,
    answer: 'right' as TokenAnswer | Promise<TokenAnswer>,
    asked,
    async verify(token: string, address: string) {
      asked.push(`${token} ${address}`)
      return made.answer
    },
  }
  return made
}

t.test('level 3 is asked by a provider, and the lower levels by work', async (t) => {
  const asks = provider()
  const { challenges } = world({ provider: asks })
  t.match(challenges.issue(makeRequest(), askedFor(2)), { puzzles: 32, wait: 8, widget: undefined })
  const issued = challenges.issue(makeRequest(), askedFor(3))
  t.match(issued, { puzzles: 0, bits: 0, wait: 0, widget: WIDGET })
  const given = await challenges.redeem(makeRequest(), `${issued.text}.a-token`, HOME)
  t.match(given, { level: 3, maxAge: 43_200 })
  t.same(asks.asked, ['a-token 203.0.113.7'])
  t.notOk(challenges.hasWaited(makeRequest({ cookie: `__Host-sallyport-challenge=${issued.text}` }), askedFor(3)))
})

t.test('what is no token, another challenge’s numbers, and a token that is wrong', async (t) => {
  const asks = provider()
  const { challenges } = world({ provider: asks })
  const { text } = challenges.issue(makeRequest(), askedFor(3))
  const refused = (solution: string) => challenges.redeem(makeRequest(), solution, HOME)
  for (const token of ['a b', 'ü', 'x'.repeat(6_001), 'line\nline'])
    t.match(await refused(`${text}.${token}`), { refused: 'malformed' })
  t.match(await refused(text), { refused: 'malformed' })
  t.match(await refused(`${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}.token`), { refused: 'forged' })
  t.same(asks.asked, [], 'the provider is asked about none of them')
  asks.answer = 'wrong'
  t.match(await refused(`${text}.1,2,3`), { refused: 'wrong', level: 3, rule: 'ask' })
  const worked = challenges.issue(makeRequest(), askedFor(2))
  t.match(await refused(`${worked.text}.a-token`), { refused: 'malformed' }, 'a token is no work')
  t.equal(asks.asked.length, 1)
})

t.test('a token and a challenge are taken once, in any order and at one time', async (t) => {
  const { challenges } = world({ provider: provider() })
  const ask = () => challenges.issue(makeRequest(), askedFor(3)).text
  const [one, other] = [ask(), ask()]
  const bringOne = () => challenges.redeem(makeRequest(), `${one}.a`, HOME)
  const answers = await Promise.all(Array.from({ length: 20 }, bringOne))
  t.equal(answers.filter((given) => !('refused' in given)).length, 1)
  t.match(await challenges.redeem(makeRequest(), `${other}.a`, HOME), { refused: 'spent' }, 'the token was')
  t.match(await challenges.redeem(makeRequest(), `${one}.b`, HOME), { refused: 'spent' }, 'the challenge was')
  t.match(await challenges.redeem(makeRequest(), `${other}.b`, HOME), { level: 3 }, 'and neither spent the other')
})

const client = (at: number) => ({ ...HOME, address: `203.0.113.${at}` })

t.test('a provider that is silent three times is away for a minute, and work asks', async (t) => {
  const asks = provider()
  const { clock, challenges } = world({ provider: asks })
  const { text } = challenges.issue(makeRequest(), askedFor(3))
  const bring = (at: number) =>
    challenges.redeem(makeRequest(), `${challenges.issue(makeRequest(), askedFor(3)).text}.a`, client(at))
  asks.answer = 'unanswered'
  t.match(await bring(1), { refused: 'unanswered', level: 3 })
  t.match(challenges.issue(makeRequest(), askedFor(3)), { widget: WIDGET })
  await bring(2)
  await bring(3)
  const instead = challenges.issue(makeRequest(), askedFor(3))
  t.match(instead, { puzzles: 32, bits: 12, wait: 0, widget: undefined }, 'neither refused nor let in')
  t.match(await challenges.redeem(makeRequest(), solve(instead), HOME), { level: 3, maxAge: 300 })
  clock.time += 60_000
  t.match(challenges.issue(makeRequest(), askedFor(3)), { widget: WIDGET }, 'it is asked again')
  asks.answer = 'right'
  t.match(await challenges.redeem(makeRequest(), `${text}.b`, HOME), { level: 3 })
})

t.test('bad tokens are their client’s: others keep the widget', async (t) => {
  const asks = provider()
  const { clock, challenges } = world({ provider: asks })
  const bring = async (token: string, by: Redeemer, answer: TokenAnswer = 'unanswered') => {
    asks.answer = answer
    await challenges.redeem(makeRequest(), `${challenges.issue(makeRequest(), askedFor(3), true).text}.${token}`, by)
  }
  const asked = (by: Redeemer) => challenges.issue(makeRequest(), { ...askedFor(3), client: by }).widget
  for (let at = 0; at < 20; at++) await bring(`bad-${at}`, HOME)
  t.equal(asked(HOME), undefined, 'work, while nobody knows whether the provider is there')
  t.equal(asked(client(1)), WIDGET)
  await bring('bad', client(1))
  await bring('wrong', client(2), 'wrong')
  t.equal(asked(HOME), WIDGET, 'it was the token')
  await bring('bad', client(3))
  await bring('bad', client(4))
  t.equal(asked(client(9)), WIDGET, 'an answer between the failures says that it is there')
  clock.time += 60_000
  const net = (at: number) => ({ ...HOME, address: `2001:db8:1:${at}::1` })
  for (let at = 0; at < 9; at++) await bring('bad', net(at))
  t.equal(asked(client(9)), WIDGET, 'networks of one /48 are one client here')
})

t.test('a browser that the provider did not reach has no token, and does not say that it is away', async (t) => {
  const asks = provider()
  asks.answer = 'wrong'
  const { challenges } = world({ provider: asks })
  const { text } = challenges.issue(makeRequest(), askedFor(3))
  for (let at = 0; at < 5; at++)
    t.match(await challenges.redeem(makeRequest(), `${text}.`, client(at)), { refused: 'unanswered' })
  t.match(challenges.issue(makeRequest(), { ...askedFor(3), client: HOME }), { widget: WIDGET })
})

t.test('a flood of tokens asks the provider 64 at one time, 8 of one address, and 6 of one challenge', async (t) => {
  const asks = provider()
  const { challenges } = world({ provider: asks })
  let answer = (_: TokenAnswer): void => {}
  asks.answer = new Promise((resolve) => {
    answer = resolve
  })
  const bring = (by: Redeemer, text = challenges.issue(makeRequest(), askedFor(3), true).text) =>
    challenges.redeem(makeRequest(), `${text}.x`, by)
  const { text } = challenges.issue(makeRequest(), askedFor(3), true)
  const one = Array.from({ length: 20 }, (_, at) => bring(client(at), text))
  t.match(await Promise.all(one.slice(6)), Array(14).fill({ refused: 'spent' }))
  const browsers = Array.from({ length: 20 }, (_, at) => bring({ ...client(99), browser: `made up ${at}` }))
  t.match(await Promise.all(browsers.slice(8)), Array(12).fill({ refused: 'too_many' }))
  const tried = Array.from({ length: 100 }, (_, at) => bring(client(100 + at)))
  t.match(await Promise.all(tried.slice(50)), Array(50).fill({ refused: 'too_many' }))
  t.equal(asks.asked.length, 64)
  answer('wrong')
  const verified = await Promise.all([...one.slice(0, 6), ...browsers.slice(0, 8), ...tried.slice(0, 50)])
  t.match(verified, Array(64).fill({ refused: 'wrong' }))
})

t.test('a provider that throws, and one that is gone, earn no pass', async (t) => {
  const faults: unknown[] = []
  const asks = provider()
  const { challenges, clock } = world({ provider: asks, onFault: (error) => faults.push(error) })
  const { text } = challenges.issue(makeRequest(), askedFor(3))
  asks.answer = Promise.reject(new Error('broken'))
  t.match(await challenges.redeem(makeRequest(), `${text}.a`, HOME), { refused: 'failed' })
  t.match(faults, [{ message: 'broken' }])
  const without = world({ clock }).challenges
  t.match(await without.redeem(makeRequest(), `${text}.a`, HOME), { refused: 'unanswered' })
})
