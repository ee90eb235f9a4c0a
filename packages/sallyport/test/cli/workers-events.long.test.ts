import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { ask, start, until, workspace } from './command.ts'

const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
const POLICY = `timeouts: { counting: 10s }
policy:
  preset: observe
  limits: [account-guard]
  rules: [{ id: no-reset, match: { event: [reset] }, action: block, monitor: true }]`
const GUESSES = 40

t.test('three workers count the guesses of an account together, and report them', async (t) => {
  const { config, command } = workspace(t, POLICY.split('\n'))
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '3'])
  await proxy.says('with the token in')
  const admin = /Console at (http:\/\/[^/]+)/.exec(proxy.err())?.[1] ?? ''
  const token = readFileSync(/with the token in (\S+)/.exec(proxy.err())?.[1] ?? '', 'utf8').trim()
  const authorization = `Bearer ${token}`
  const shown = async (path: string) => (await ask(`${admin}/console/api/${path}`, { authorization })).json
  await until(async () => (await shown('health'))['processes'] === 3)

  /** Each event comes on a connection of its own, which goes to the next worker. */
  const assess = (event: object, address: string) =>
    new Promise<{ readonly action: string }>((resolve, reject) => {
      const headers = { authorization, 'content-type': 'application/json' }
      const sent = request(`${admin}/accounts/assess`, { agent: false, method: 'POST', headers }, (response) => {
        text(response).then((body) => resolve(JSON.parse(body)), reject)
      })
      const visitor = { address, headers: { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0' } }
      sent.on('error', reject).end(JSON.stringify({ ...event, visitor }))
    })
  const guess = { event: 'login', identifier: 'ada@shop.example', outcome: 'failure' }
  const answers = await Promise.all(Array.from({ length: GUESSES }, (_, at) => assess(guess, `${11 + at}.0.7.9`)))
  const allowed = answers.filter(({ action }) => action === 'allow')
  t.equal(allowed.length, 10, 'ten failures, over all workers')
  t.equal(answers.filter(({ action }) => action === 'challenge').length, GUESSES - 10)
  await assess({ event: 'login', identifier: 'nobody@shop.example', outcome: 'unknown_user' }, '9.0.7.9')
  await assess({ event: 'login', identifier: 'bob@shop.example', outcome: 'success' }, '9.0.7.8')
  await assess({ event: 'reset', identifier: 'bob@shop.example', outcome: 'success' }, '9.0.7.8')

  const { accounts } = (await shown('risk')) as unknown as {
    readonly accounts: readonly { readonly failures: number }[]
  }
  t.match(
    accounts.filter(({ failures }) => failures > 1),
    [{ failures: GUESSES, challenged: GUESSES - 10, addresses: GUESSES }],
    'the console asks all workers',
  )
  const counted = async () => JSON.parse((await command('report', '--json')).out || '{}').tally?.accounts
  // Each worker writes its counts every five seconds.
  const sum = (events: readonly { successes: number; failures: number }[] = []) =>
    events.reduce((all, { successes, failures }) => all + successes + failures, 0)
  await until(async () => sum((await counted())?.events) === GUESSES + 3)
  const { events, reasons } = await counted()
  t.match(events, [
    { event: 'login', successes: 1, failures: GUESSES + 1, unknownUsers: 1, challenged: GUESSES - 10, refused: 0 },
    { event: 'reset', successes: 1, challenged: 0, would: 1 },
  ])
  const named = Object.fromEntries(
    reasons.map(({ name, requests }: { name: string; requests: number }) => [name, requests]),
  )
  t.same(named, { 'account:unknown': GUESSES - 10, 'policy:account-guess': GUESSES - 10, 'policy:no-reset': 1 })
  const { out } = await command('report')
  t.match(out, /Account events\nevent +successes +failures/)
  t.match(out, /Reasons against account events\nreason +events\n(.*\n)?the rule "account-guess" +30/)
  t.notMatch(out + JSON.stringify({ accounts, events, reasons }), /ada|bob|@/, 'nobody is named')
})
