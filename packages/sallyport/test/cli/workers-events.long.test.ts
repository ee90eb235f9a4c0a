import t from 'tap'
import { ask, openConsoleApi, serve, until, workspace } from './command.ts'

const POLICY = `timeouts: { counting: 10s }
policy:
  preset: observe
  limits: [account-guard]
  rules: [{ id: no-reset, match: { event: [reset] }, action: block, monitor: true }]`
const GUESSES = 40

t.test('three workers count the guesses of an account together, and report them', async (t) => {
  const { config, command } = workspace(t, POLICY.split('\n'))
  const proxy = await serve(t, config, ['--workers', '3'])
  const shown = openConsoleApi(proxy)
  await until(async () => (await shown('health'))['processes'] === 3)

  /** Each event comes on a connection of its own, which goes to the next worker. */
  const assess = async (event: object, address: string) => {
    const fields = { authorization: `Bearer ${proxy.token}`, 'content-type': 'application/json' }
    const visitor = { address, headers: { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0' } }
    return (await ask(`${proxy.admin}/accounts/assess`, fields, JSON.stringify({ ...event, visitor }))).json
  }
  const guess = { event: 'login', identifier: 'ada@shop.example', outcome: 'failure' }
  const answers = await Promise.all(Array.from({ length: GUESSES }, (_, at) => assess(guess, `${11 + at}.0.7.9`)))
  const countActions = (wanted: string) => answers.filter(({ action }) => action === wanted).length
  t.same([countActions('allow'), countActions('challenge')], [10, GUESSES - 10], 'ten failures, over all workers')
  await assess({ event: 'login', identifier: 'nobody@shop.example', outcome: 'unknown_user' }, '9.0.7.9')
  await assess({ event: 'login', identifier: 'bob@shop.example', outcome: 'success' }, '9.0.7.8')
  await assess({ event: 'reset', identifier: 'bob@shop.example', outcome: 'success' }, '9.0.7.8')

  const { accounts } = await shown('risk')
  const guessed = (accounts as readonly { readonly failures: number }[]).filter(({ failures }) => failures > 1)
  // The console asks all workers.
  t.match(guessed, [{ failures: GUESSES, challenged: GUESSES - 10, addresses: GUESSES }])
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
  const named = reasons.map(({ name, requests }: { name: string; requests: number }) => `${name} ${requests}`)
  t.same(named.sort(), ['account:unknown 30', 'policy:account-guess 30', 'policy:no-reset 1'])
  const { out } = await command('report')
  t.match(out, /Account events\nevent +successes +failures/)
  t.match(out, /Reasons against account events\nreason +events\n(.*\n)?the rule "account-guess" +30/)
  t.notMatch(out + JSON.stringify({ accounts, events, reasons }), /ada|bob|@/, 'nobody is named')
})
