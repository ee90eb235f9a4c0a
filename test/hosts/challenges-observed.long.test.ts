import { setTimeout as delay } from 'node:timers/promises'
import type { ObservedRequest } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { readCookie } from './challenge-client.ts'
import { awaitBans, startHost } from './every-host.ts'
import { HOSTS, type Host } from './hosts.ts'
import { solved } from './solution.ts'
import { askAs, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Operators see one thing of a challenge in the log, the metrics and the report, whatever host asked; and strikes read it. */
const POLICY = {
  preset: 'observe',
  rules: [{ id: 'ask', match: { path: ['/shop'] }, action: 'challenge', challenge: { level: 2 } }],
} satisfies ConfigInput['policy']

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'
const NAVIGATES = ['Accept', 'text/html', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'document']

/** A host in front of the same site, and what is observed of its requests. */
async function started(t: Test, host: Host, policy: ConfigInput['policy']) {
  const seen: ObservedRequest[] = []
  const clock = { ahead: 0 }
  const sallyport = await openWithoutData(
    t,
    { policy },
    { observe: (observed) => void seen.push(observed), clock: { now: () => Date.now() + clock.ahead } },
  )
  const at = await startHost(t, host, sallyport)

  async function ask(address: string, target: string, more: readonly string[], method = 'GET') {
    const before = seen.length
    const answer = await askAs(at, address, target, ['User-Agent', CHROME, ...more], { method })
    // An answer is observed when it has ended, which is a moment after it was read.
    while (seen.length === before) await delay(5)
    return { answer, observed: seen.at(-1) as ObservedRequest }
  }
  return { sallyport, ask, clock }
}

const bringCookie = (answer: WireResponse): readonly string[] => ['Cookie', readCookie(answer)]

for (const host of HOSTS) {
  t.test(`${host.name}: what came of a question is observed`, async (t) => {
    const { sallyport, ask } = await started(t, host, POLICY)
    const page = await ask('8.3.0.1', '/shop', NAVIGATES)
    t.match(page, { answer: { status: 403 }, observed: { challenge: { outcome: 'asked', rule: 'ask', level: 2 } } })
    const { challenge, solution } = solved(page.answer.body)
    const wait = bringCookie(page.answer)
    for (const [outcome, fields, method] of [
      ['waiting', [...NAVIGATES, ...wait], 'GET'],
      ['program', ['Sec-Fetch-Mode', 'cors'], 'GET'],
      ['asked', NAVIGATES, 'POST'],
    ] as const) {
      t.match((await ask('8.3.0.1', '/shop', fields, method)).observed.challenge, { outcome, level: 2 })
    }
    const bring = (value: string) => ask('8.3.0.1', '/.sallyport/pass', ['Sallyport-Solution', value])
    for (const [outcome, value, rule] of [
      ['wrong', `${challenge}.1,2`, 'ask'],
      ['malformed', 'hello', undefined],
      ['forged', `${challenge.slice(0, -3)}AAA.1`, undefined],
    ] as const) {
      t.match((await bring(value)).observed.challenge, { outcome, rule })
    }
    const answered = await bring(solution)
    t.match(answered, { answer: { status: 204 }, observed: { challenge: { outcome: 'solved', level: 2 } } })
    t.ok((answered.observed.challenge?.seconds ?? -1) >= 0)
    t.match((await bring(solution)).observed.challenge, { outcome: 'spent', rule: 'ask' })
    const passed = await ask('8.3.0.1', '/shop', [...NAVIGATES, ...bringCookie(answered.answer)])
    t.equal(passed.answer.status, 200)
    t.equal(passed.observed.challenge, undefined)
    t.match(passed.observed.decision?.inspection.pass, { level: 2 })

    const text = await sallyport.metrics().metrics()
    for (const [outcome, count] of Object.entries({
      asked: 2,
      waiting: 1,
      program: 1,
      wrong: 1,
      solved: 1,
      spent: 1,
    })) {
      const labels = `rule="ask",outcome="${outcome}",level="2",network_class="unknown"`
      t.match(text, `sallyport_challenges_total{${labels}} ${count}\n`)
    }
    t.match(text, 'sallyport_rule_matches_total{rule="ask",action="block"} 1\n', 'for a program the rule refuses')
  })
}

const STRIKES = {
  ...POLICY,
  strikes: { count: 2, window: '10m', on: ['challenge_failed'], for: '1h', then: 'challenge' },
} satisfies ConfigInput['policy']

for (const host of HOSTS.filter(({ name }) => ['node:http', 'Express 5', 'the proxy'].includes(name))) {
  t.test(`${host.name}: who fails is banned, and asked, and a pass lifts the ban`, async (t) => {
    const { sallyport, ask, clock } = await started(t, host, STRIKES)
    const bring = (address: string, value: string, more: readonly string[] = []) =>
      ask(address, '/.sallyport/pass', ['Sallyport-Solution', value, ...more])
    clock.ahead = -2_000
    const page = await ask('8.4.0.1', '/shop', NAVIGATES)
    const { challenge, solution } = solved(page.answer.body)
    const early = await bring('8.4.0.1', solution)
    t.equal(early.answer.status, 204)
    // A second tab with the same question brings the pass of the first.
    for (let tab = 0; tab < 3; tab++) {
      t.match((await bring('8.4.0.1', solution, bringCookie(early.answer))).observed.challenge, { outcome: 'spent' })
    }
    for (let call = 0; call < 3; call++) await bring('8.4.0.1', 'hello')
    t.equal((await ask('8.4.0.1', '/', NAVIGATES)).answer.status, 200, 'nobody is banned for bad luck')
    // A pass and a ban know the second that they began in.
    clock.ahead = 0
    for (let call = 0; call < 2; call++) await bring('8.4.0.1', `${challenge}.1,2`)
    await awaitBans(sallyport, 1)
    t.match(await sallyport.bans.list(), [{ key: 'client 8.4.0.1', on: 'challenge_failed', count: 2 }])

    const banned = await ask('8.4.0.1', '/', NAVIGATES)
    t.match(banned.observed.decision, {
      action: 'challenge',
      challenge: { level: 2 },
      reasons: [{ id: 'policy:strikes' }],
    })
    t.match(banned, { answer: { status: 403 }, observed: { challenge: { outcome: 'asked', level: 2 } } })
    t.match((await ask('8.4.0.1', '/robots.txt', [])).observed.decision, { action: 'block' }, 'never asked: refused')
    const held = await ask('8.4.0.1', '/', [...NAVIGATES, ...bringCookie(early.answer)])
    t.equal(held.answer.status, 403, 'the pass is older than the ban')
    const answered = await bring('8.4.0.1', solved(banned.answer.body).solution)
    t.equal(answered.answer.status, 204)
    const on = await ask('8.4.0.1', '/', [...NAVIGATES, ...bringCookie(answered.answer)])
    t.equal(on.answer.status, 200)
    await awaitBans(sallyport, 0)
    t.equal((await ask('8.4.0.1', '/', NAVIGATES)).answer.status, 200)
  })
}
