import t from 'tap'
import type { ChallengeProvider, TokenAnswer } from '../src/challenge/provider.ts'
import { askedFor, HOME, requestOf, solve, world } from './challenge-world.ts'

const WIDGET = {
  name: 'Widgets',
  script: 'https://widgets.example/api.js',
  origins: [],
  element: 'div',
  attributes: {},
  field: 'token',
}

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
  t.match(challenges.issue(requestOf(), askedFor(2)), { puzzles: 32, wait: 8, widget: undefined })
  const issued = challenges.issue(requestOf(), askedFor(3))
  t.match(issued, { puzzles: 0, bits: 0, wait: 0, widget: WIDGET })
  const given = await challenges.redeem(requestOf(), `${issued.text}.a-token`, HOME)
  t.match(given, { level: 3, maxAge: 43_200 })
  t.same(asks.asked, ['a-token 203.0.113.7'])
  t.notOk(challenges.hasWaited(requestOf({ cookie: `__Host-sallyport-challenge=${issued.text}` }), askedFor(3)))
})

t.test('what is no token, another challenge’s numbers, and a token that is wrong', async (t) => {
  const asks = provider()
  const { challenges } = world({ provider: asks })
  const { text } = challenges.issue(requestOf(), askedFor(3))
  const refused = (solution: string) => challenges.redeem(requestOf(), solution, HOME)
  for (const token of ['a b', 'ü', 'x'.repeat(6_001), 'line\nline'])
    t.match(await refused(`${text}.${token}`), { refused: 'malformed' })
  t.match(await refused(text), { refused: 'malformed' })
  t.match(await refused(`${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}.token`), { refused: 'forged' })
  t.same(asks.asked, [], 'the provider is asked about none of them')
  asks.answer = 'wrong'
  t.match(await refused(`${text}.1,2,3`), { refused: 'wrong', level: 3, rule: 'ask' })
  const worked = challenges.issue(requestOf(), askedFor(2))
  t.match(await refused(`${worked.text}.a-token`), { refused: 'malformed' }, 'a token is no work')
  t.equal(asks.asked.length, 1)
})

t.test('a token and a challenge are taken once, in any order and at one time', async (t) => {
  const { challenges } = world({ provider: provider() })
  const ask = () => challenges.issue(requestOf(), askedFor(3)).text
  const [one, other] = [ask(), ask()]
  const answers = await Promise.all(Array.from({ length: 20 }, () => challenges.redeem(requestOf(), `${one}.a`, HOME)))
  t.equal(answers.filter((given) => !('refused' in given)).length, 1)
  t.match(await challenges.redeem(requestOf(), `${other}.a`, HOME), { refused: 'spent' }, 'the token was')
  t.match(await challenges.redeem(requestOf(), `${one}.b`, HOME), { refused: 'spent' }, 'the challenge was')
  t.match(await challenges.redeem(requestOf(), `${other}.b`, HOME), { level: 3 }, 'and neither spent the other')
})

t.test('a provider that gives no answer is away for a minute, in which work asks for a pass of five', async (t) => {
  const asks = provider()
  const { clock, challenges } = world({ provider: asks })
  const { text } = challenges.issue(requestOf(), askedFor(3))
  asks.answer = 'unanswered'
  t.match(await challenges.redeem(requestOf(), `${text}.a`, HOME), { refused: 'unanswered', level: 3 })
  const instead = challenges.issue(requestOf(), askedFor(3))
  t.match(instead, { puzzles: 32, bits: 12, wait: 0, widget: undefined }, 'neither refused nor let in')
  t.match(await challenges.redeem(requestOf(), solve(instead), HOME), { level: 3, maxAge: 300 })
  clock.time += 60_000
  t.match(challenges.issue(requestOf(), askedFor(3)), { widget: WIDGET }, 'it is asked again')
  asks.answer = 'right'
  t.match(
    await challenges.redeem(requestOf(), `${text}.a`, HOME),
    { level: 3 },
    'an answer that came to nothing spent nothing',
  )
})

t.test('a browser that the provider did not reach has no token, and does not say that it is away', async (t) => {
  const asks = provider()
  asks.answer = 'wrong'
  const { challenges } = world({ provider: asks })
  const { text } = challenges.issue(requestOf(), askedFor(3))
  t.match(await challenges.redeem(requestOf(), `${text}.`, HOME), { refused: 'unanswered' })
  t.match(challenges.issue(requestOf(), askedFor(3)), { widget: WIDGET })
  asks.answer = 'unanswered'
  t.match(await challenges.redeem(requestOf(), `${text}.`, HOME), { refused: 'unanswered' })
  t.match(challenges.issue(requestOf(), askedFor(3)), { puzzles: 32 })
})

t.test('a flood of tokens asks the provider 64 at one time, and 30 of a client in a minute', async (t) => {
  const asks = provider()
  const { challenges } = world({ provider: asks })
  let answer = (_: TokenAnswer): void => {}
  asks.answer = new Promise((resolve) => {
    answer = resolve
  })
  const { text } = challenges.issue(requestOf(), askedFor(3))
  const tried = Array.from({ length: 200 }, (_, at) =>
    challenges.redeem(requestOf(), `${text}.${at}`, { ...HOME, address: `203.0.113.${at}` }),
  )
  const more = Array.from({ length: 40 }, () => challenges.redeem(requestOf(), `${text}.x`, HOME))
  t.match(await Promise.all(more.slice(30)), Array(10).fill({ refused: 'too_many' }))
  t.equal(asks.asked.length, 64)
  answer('wrong')
  const refused = (await Promise.all(tried)).map((given) => ('refused' in given ? given.refused : ''))
  t.equal(refused.filter((fault) => fault === 'wrong').length, 64)
  t.equal(refused.filter((fault) => fault === 'too_many').length, 136)
})

t.test('a provider that throws, and one that is gone, earn no pass', async (t) => {
  const faults: unknown[] = []
  const asks = provider()
  const { challenges, clock } = world({ provider: asks, onFault: (error) => faults.push(error) })
  const { text } = challenges.issue(requestOf(), askedFor(3))
  asks.answer = Promise.reject(new Error('broken'))
  t.match(await challenges.redeem(requestOf(), `${text}.a`, HOME), { refused: 'failed' })
  t.match(faults, [{ message: 'broken' }])
  const without = world({ clock }).challenges
  t.match(await without.redeem(requestOf(), `${text}.a`, HOME), { refused: 'unanswered' })
})
