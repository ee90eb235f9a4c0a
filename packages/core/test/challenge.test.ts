import t from 'tap'
import { createChallengeSecrets, type Redeemed } from '../src/index.ts'
import { createFakeCounts } from '../src/testing/fakes.ts'
import type { Redeemer } from '../src/values/challenge.ts'
import { askedFor, earnPass, FIREFOX, HOME, makeRequest, readPass, SECRET, solve, world } from './challenge-world.ts'

const HOUR = 3_600_000
const refusals = (given: readonly Redeemed[]): number => given.filter((one) => 'refused' in one).length

t.test('who works has a pass of that level for as long as the rule says', async (t) => {
  const { clock, challenges } = world()
  const issued = challenges.issue(makeRequest(), askedFor(2))
  t.match(issued, { level: 2, puzzles: 32, bits: 10, wait: 8 })
  t.match(issued.text, /^[\w-]{96}$/)
  clock.time += 400
  const redeemed = await challenges.redeem(makeRequest(), solve(issued), HOME)
  t.match(redeemed, { level: 2, maxAge: 43_200, seconds: 0.4, degraded: false })
  const cookie = `a=b; __Host-sallyport=${readPass(redeemed)}; c=d`
  t.match(readPass(redeemed), /^[\w-]{52}$/)
  clock.time += 5_000
  const pass = challenges.findPass(makeRequest({ cookie }), 'residential_clean', clock.now())
  t.match(pass, { level: 2, age: 5, id: /^[\w-]{11}$/ })
  t.same(challenges.findPass(makeRequest({ cookie }), 'mobile', clock.now()), pass, 'also on another network')
  clock.time += 12 * HOUR
  t.equal(challenges.findPass(makeRequest({ cookie }), 'residential_clean', clock.now()), undefined)
})

t.test('a pass holds for its host, browser and TLS alone, and a home line’s pass not in a datacenter', async (t) => {
  const { clock, challenges } = world()
  const ja4 = 't13d1715h2_5b57614c22b0_5c2c66f702b0'
  const request = makeRequest({ ja4 })
  const pass = readPass(await challenges.redeem(request, solve(challenges.issue(request, askedFor(2))), HOME))
  const cookie = `sallyport=${pass}`
  type Network = 'residential_clean' | 'hosting' | 'tor'
  const holds = (described: Parameters<typeof makeRequest>[0], network: Network = 'residential_clean') =>
    challenges.findPass(makeRequest({ ja4, cookie, ...described }), network, clock.now()) !== undefined
  t.ok(holds({}))
  t.ok(holds({ host: 'SHOP.example:8443' }), 'cookies know no port')
  t.notOk(holds({ host: 'other.example' }))
  t.ok(holds({ userAgent: FIREFOX.replaceAll('153', '154') }), 'the next version')
  t.notOk(holds({ userAgent: 'curl/8.9' }))
  t.ok(holds({ ja4: 't13d1717h1_5b57614c22b0_5c2c66f702b0' }), 'extensions and ALPN of another connection')
  t.notOk(holds({ ja4: 't13d0411h2_5b57614c22b0_5c2c66f702b0' }))
  t.ok(challenges.findPass(makeRequest({ cookie }), 'residential_clean', clock.now()), 'JA4 is not known everywhere')
  t.notOk(holds({}, 'hosting'))
  t.notOk(holds({}, 'tor'))
})

t.test('of several passes the best counts, and what is none costs nothing and is none', async (t) => {
  const { clock, challenges } = world()
  const issued = challenges.issue(makeRequest(), askedFor(1), true)
  clock.time += 1_000
  const waited = makeRequest({ cookie: `sallyport-challenge=${issued.text}` })
  const one = readPass(await challenges.redeemWaited(waited, askedFor(1), HOME))
  const two = await earnPass({ clock, challenges })
  const readLevel = (cookie: string) => challenges.findPass(makeRequest({ cookie }), 'mobile', clock.now())?.level
  t.equal(readLevel(`sallyport=${one}; __Host-sallyport=${two}`), 2)
  t.equal(readLevel(`sallyport=${one}`), 1)
  const flipped = (at: number) => `${two.slice(0, at)}${two[at] === 'A' ? 'B' : 'A'}${two.slice(at + 1)}`
  for (let at = 0; at < two.length; at++) t.equal(readLevel(`sallyport=${flipped(at)}`), undefined, `a change at ${at}`)
  for (const cookie of [two.slice(0, -1), `${two}A`, two + two, '', '%00', `"${two}`, two.toLowerCase()])
    t.equal(readLevel(`sallyport=${cookie}`), undefined, cookie)
  t.equal(readLevel(`${'sallyport=x; '.repeat(9)}sallyport=${two}`), undefined, 'no more than a few are looked at')
  const neighbours = Array.from({ length: 9 }, () => ['cookie', 'sallyport=x']).flat()
  const fields = [...makeRequest().fields, ...neighbours, 'cookie', `__Host-sallyport=${two}`]
  const request = { ...makeRequest(), fields }
  t.equal(challenges.findPass(request, 'mobile', clock.now())?.level, 2, 'the name that no neighbour can set is first')
})

t.test('a solution is refused for what is wrong with it', async (t) => {
  const { clock, challenges } = world()
  const issued = challenges.issue(makeRequest(), askedFor(2))
  const solution = solve(issued)
  const readRefusal = async (text: string, request = makeRequest()) => {
    const redeemed = await challenges.redeem(request, text, HOME)
    return 'refused' in redeemed ? redeemed.refused : 'a pass'
  }
  const [text, numbers] = solution.split('.') as [string, string]
  const changed = (at: number) => `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}.${numbers}`
  for (const at of [0, 1, 12, 14, 20, 40, 60, 89])
    t.match(await readRefusal(changed(at)), /^(?:forged|expired|malformed)$/, `at ${at}`)
  for (const bad of ['', '.', text, `${text}.a`, `${text}.-1`, `${text}.1.2`, `x${solution}`, `${solution},1,`])
    t.equal(await readRefusal(bad), 'malformed', bad)
  t.equal(await readRefusal(`${text}.`), 'early')
  t.equal(await readRefusal(`${solution}${',1'.repeat(2_000)}`), 'malformed', 'longer than is read')
  t.equal(await readRefusal(`${text}.${numbers.split(',').slice(1).join(',')}`), 'wrong')
  t.equal(await readRefusal(`${text}.${numbers.replace(/\d+$/, '4294967296')}`), 'wrong')
  t.equal(await readRefusal(solution, makeRequest({ host: 'other.example' })), 'forged')
  t.equal(await readRefusal(solution, makeRequest({ userAgent: 'curl/8' })), 'other_browser')
  clock.time += 301_000
  t.equal(await readRefusal(solution), 'expired')
  clock.time -= 400_000
  t.equal(await readRefusal(solution), 'expired', 'from the future')
  clock.time += 100_000
  t.equal(await readRefusal(solution), 'a pass')
  t.equal(await readRefusal(solution), 'spent')
  const plain = challenges.issue(makeRequest(), askedFor(1)).text
  t.equal(await readRefusal(`${plain}.0`), 'wrong', 'a challenge of level 1 has no work')
})

t.test('of a hundred solutions at one time one has a pass, over all machines that share counts', async (t) => {
  const clock = { now: () => 1_790_000_000_000 }
  const counts = createFakeCounts(clock)
  const machines = Array.from({ length: 4 }, () => world({ counts, clock }).challenges)
  const [solution] = machines.map((challenges) => solve(challenges.issue(makeRequest(), askedFor(2))))
  const clients = Array.from({ length: 25 }, (_, at) => ({ ...HOME, address: `203.0.113.${at}` }))
  const bring = (by: Redeemer) => machines.map((one) => one.redeem(makeRequest(), solution ?? '', by))
  t.equal(refusals(await Promise.all(clients.flatMap(bring))), 99)
})

t.test('wrong solutions use up their challenge, and nothing of others behind the address', async (t) => {
  const { challenges } = world()
  const issued = challenges.issue(makeRequest(), askedFor(2))
  const wrong = `${issued.text}.${Array(32).fill(7).join(',')}`
  const forged = `${wrong.slice(0, 30)}${wrong[30] === 'A' ? 'B' : 'A'}${wrong.slice(31)}`
  for (let tried = 0; tried < 50; tried++) {
    t.same(await challenges.redeem(makeRequest(), forged, HOME), { refused: 'forged' })
    t.match(await challenges.redeem(makeRequest(), `${issued.text}.x`, HOME), { refused: 'malformed' })
  }
  const tried: Redeemed[] = []
  for (let at = 0; at < 200; at++) tried.push(await challenges.redeem(makeRequest(), wrong, HOME))
  t.match(tried.slice(0, 6), Array(6).fill({ refused: 'wrong' }))
  t.match(tried.slice(6), Array(194).fill({ refused: 'spent' }))
  t.match(await challenges.redeem(makeRequest(), solve(issued), HOME), { refused: 'spent' })
  const other = challenges.issue(makeRequest(), askedFor(2))
  t.match(await challenges.redeem(makeRequest(), solve(other), HOME), { level: 2 })
})

/** Passes that clients get for challenges of level 1, each of its own browser family. */
async function waitedPasses(clients: readonly Redeemer[]): Promise<readonly Redeemed[]> {
  const { clock, challenges } = world()
  const texts = clients.map(() => challenges.issue(makeRequest(), askedFor(1), true).text)
  clock.time += 1_000
  const given: Redeemed[] = []
  for (const [at, client] of clients.entries()) {
    const request = makeRequest({ cookie: `sallyport-challenge=${texts[at]}` })
    given.push(await challenges.redeemWaited(request, askedFor(1), client))
  }
  return given
}

t.test('a client has 120 passes a minute; at a shared address each browser, and all sixteen times that', async (t) => {
  const given = await waitedPasses(Array(130).fill(HOME))
  t.equal(refusals(given.slice(0, 120)), 0)
  t.match(given.slice(120), Array(10).fill({ refused: 'too_many' }))
  const exit = { address: '203.0.113.7', network: 'vpn' } as const
  const greedy = Array(200).fill({ ...exit, browser: 'greedy' })
  t.equal(refusals(await waitedPasses([...greedy, ...Array(40).fill({ ...exit, browser: 'people' })])), 80)
  const made = Array.from({ length: 2_200 }, (_, at) => ({ ...exit, browser: `made up ${at}` }))
  t.equal(refusals(await waitedPasses(made)), 2_200 - 16 * 120)
})

t.test('twenty networks of one /48 leave passes to the others there', async (t) => {
  const net = (at: number) => ({ address: `2001:db8:1:${at.toString(16)}::1`, network: 'residential_clean' }) as const
  const greedy = Array.from({ length: 2_600 }, (_, at) => net(1 + (at % 20)))
  const others = Array.from({ length: 100 }, (_, at) => net(100 + at))
  const given = await waitedPasses([...greedy, ...others])
  t.ok(refusals(given.slice(0, 2_600)) > 900)
  t.equal(refusals(given.slice(2_600)), 0)
})

t.test('two secrets are live, and a third one’s are forged', async (t) => {
  const old = world({ secretTexts: ['the secret before this one, also long'] })
  const issued = old.challenges.issue(makeRequest(), askedFor(2))
  const pass = readPass(await old.challenges.redeem(makeRequest(), solve(issued), HOME))
  const rotated = world({ secretTexts: [SECRET, 'the secret before this one, also long'] })
  const held = (challenges: typeof rotated.challenges) =>
    challenges.findPass(makeRequest({ cookie: `sallyport=${pass}` }), 'mobile', rotated.clock.now())?.level
  t.equal(held(rotated.challenges), 2)
  t.notOk('refused' in (await rotated.challenges.redeem(makeRequest(), solve(issued), HOME)))
  const other = world()
  t.equal(held(other.challenges), undefined)
  t.same(await other.challenges.redeem(makeRequest(), solve(issued), HOME), { refused: 'forged' })
  t.throws(() => createChallengeSecrets(['short']), { code: 'invalid_config' })
})

t.test('what was asked before a start that forgot what is spent is refused', async (t) => {
  const before = world()
  const solution = solve(before.challenges.issue(makeRequest(), askedFor(2)))
  const after = world({ since: before.clock.time + 1 })
  t.same(await after.challenges.redeem(makeRequest(), solution, HOME), { refused: 'expired' })
})

t.test('while shared counts are away a pass holds five minutes; where counting fails there is none', async (t) => {
  const faults: unknown[] = []
  const away = world()
  const local = createFakeCounts(away.clock)
  const shared = world({
    counts: { ...local, take: async (tasks, flight) => ({ ...(await local.take(tasks, flight)), share: 0.5 }) },
  })
  const issued = shared.challenges.issue(makeRequest(), askedFor(2))
  t.match(await shared.challenges.redeem(makeRequest(), solve(issued), HOME), { degraded: true, maxAge: 300 })
  const take = (): never => {
    throw new Error('gone')
  }
  const gone = world({ counts: { take, leave: () => {} }, onFault: (error) => faults.push(error) })
  await t.rejects(earnPass(gone), { message: 'failed' })
  t.equal(faults.length, 1)
})

t.test('who waits has a pass too: of the level, for an hour where work was asked, and once', async (t) => {
  for (const [level, wait, maxAge] of [
    [1, 1, 43_200],
    [2, 8, 3_600],
    [3, 32, 3_600],
  ] as const) {
    const { clock, challenges } = world()
    const issued = challenges.issue(makeRequest(), askedFor(level))
    const request = makeRequest({ cookie: `__Host-sallyport-challenge=${issued.text}` })
    clock.time += wait * 1_000 - 1
    t.equal(challenges.hasWaited(request, askedFor(level)), false)
    t.same(await challenges.redeemWaited(request, askedFor(level), HOME), { refused: 'early' })
    t.match(challenges.issue(request, askedFor(level)), { text: issued.text, wait: 1 }, 'the same question goes on')
    clock.time += 1
    t.equal(challenges.hasWaited(request, askedFor(level)), true)
    const redeemed = await challenges.redeemWaited(request, askedFor(level), HOME)
    t.match(redeemed, { level, maxAge })
    t.match(await challenges.redeemWaited(request, askedFor(level), HOME), { refused: 'spent' })
    t.equal(challenges.hasWaited(request, askedFor(level, { script: true })), false, 'not where script is required')
    if (level < 3) t.equal(challenges.hasWaited(request, askedFor(3)), false, 'nor for a higher level')
  }
})

t.test('a question that a pass was given for is not asked once more', async (t) => {
  const { clock, challenges } = world()
  const issued = challenges.issue(makeRequest(), askedFor(2))
  const request = makeRequest({ cookie: `sallyport-challenge=${issued.text}` })
  clock.time += 20_000
  const pass = { id: 'x', level: 1, age: 5 } as const
  t.not(challenges.issue(request, askedFor(2, {}, pass)).text, issued.text)
  t.equal(challenges.issue(request, askedFor(2, {}, { ...pass, age: 60 })).text, issued.text, 'one from before it')
  t.not(challenges.issue(request, askedFor(2), true).text, issued.text)
  clock.time += 240_000
  t.not(challenges.issue(request, askedFor(2)).text, issued.text, 'nor one that is nearly over')
})

t.test('who asked is known of an answer, to another process too, and of what is not ours nothing is', async (t) => {
  const asking = world()
  const issued = asking.challenges.issue(makeRequest(), askedFor(2))
  const solution = solve(issued)
  const known = await world({ rules: () => ['other', 'ask'] }).challenges.redeem(makeRequest(), solution, HOME)
  t.match(known, { level: 2, rule: 'ask' })
  const gone = await world().challenges.redeem(makeRequest(), solution, HOME)
  t.match(gone, { level: 2, rule: undefined })
  const wrong = await asking.challenges.redeem(makeRequest(), `${issued.text}.1`, HOME)
  t.same(wrong, { refused: 'wrong', level: 2, rule: 'ask' })
  t.same(await asking.challenges.redeem(makeRequest(), 'x.1', HOME), { refused: 'malformed' })
  const banned = asking.challenges.issue(makeRequest(), { ...askedFor(2), rule: 'strikes' })
  t.match(await world().challenges.redeem(makeRequest(), solve(banned), HOME), { rule: 'strikes' })
  t.notMatch(Buffer.from(issued.text, 'base64url').toString('latin1'), 'ask', 'nobody else reads it')
})

t.test('a program waits in place of work too, once, and not where a script is required', async (t) => {
  const { clock, challenges } = world()
  const request = makeRequest()
  const issued = challenges.issue(request, askedFor(2))
  clock.time += issued.wait * 1000 - 1
  t.match(await challenges.redeem(request, `${issued.text}.`, HOME), { refused: 'early' })
  clock.time += 1
  t.match(await challenges.redeem(request, `${issued.text}.`, HOME), { level: 2, maxAge: 3_600 })
  t.match(await challenges.redeem(request, `${issued.text}.`, HOME), { refused: 'spent' })
  const plain = challenges.issue(request, askedFor(1))
  clock.time += plain.wait * 1000
  t.match(await challenges.redeem(request, `${plain.text}.`, HOME), { level: 1, maxAge: 43_200 })
  const scripted = challenges.issue(request, askedFor(2, { script: true }))
  clock.time += 60_000
  t.match(await challenges.redeem(request, `${scripted.text}.`, HOME), { refused: 'malformed' })
})
