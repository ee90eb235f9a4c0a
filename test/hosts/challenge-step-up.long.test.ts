import type { ConfigInput, Sallyport } from '@sallyport/engine'
import * as forExpress from '@sallyport/express'
import { challenge } from '@sallyport/node'
import t, { type Test } from 'tap'
import { APPLICATIONS, DONE, OTHER } from './applications.ts'
import { BROWSER, readCookie, readSolution, redeem, visit } from './challenge-client.ts'
import type { RunningHost } from './hosts.ts'
import { startProxyBefore } from './proxy.ts'
import { openWithoutData } from './without-data.ts'

/* An application asks for a pass of level 2 at /buy, and no visitor is asked elsewhere; behind the proxy an answer of the origin does. */
const POLICY = { preset: 'observe', rules: [] } satisfies ConfigInput['policy']
const BUY = { target: '/buy?item=1' }

/** Starts the proxy before an origin that asks for a level with its answers at /buy. */
function startAsking(t: Test, sallyport: Sallyport, level: string, onNotice = (_: string): void => {}) {
  const options = { onNotice }
  return startProxyBefore(
    t,
    sallyport,
    (req, res) => {
      if (!req.url?.startsWith('/buy')) return res.end(OTHER)
      res.setHeader('Sallyport-Challenge', level).write(DONE.slice(0, 2))
      return res.end(DONE.slice(2))
    },
    options,
  )
}

const PLACES: Readonly<Record<string, (t: Test, sallyport: Sallyport) => Promise<RunningHost>>> = {
  ...Object.fromEntries(
    Object.entries(APPLICATIONS).map(([name, start]) => [
      name,
      (_: Test, sallyport: Sallyport) => start(sallyport, '/buy', { level: 2 }),
    ]),
  ),
  'the proxy': (t, sallyport) => startAsking(t, sallyport, '2'),
}

for (const [name, start] of Object.entries(PLACES)) {
  t.test(`${name}: who buys is asked, and nobody else; monitor mode asks nobody`, async (t) => {
    const at = await start(t, await openWithoutData(t, { policy: POLICY }))
    t.teardown(() => at.close())
    t.equal((await visit(at)).body, OTHER)
    const page = await visit(at, BUY)
    t.equal(page.status, 403)
    t.match(page.body, 'data-puzzles="32"')
    t.notMatch(page.body, DONE)
    t.equal(page.headers['sallyport-challenge'], '/.sallyport/pass', 'not the level that the application wants')
    const given = await redeem(at, readSolution(page))
    t.match([given.status, given.headers['sallyport-pass']], [204, '2'])
    const sold = await visit(at, { ...BUY, cookie: readCookie(given) })
    t.match([sold.status, sold.body], [200, DONE])
    t.notOk(sold.headers['sallyport-challenge'], 'nothing of ours goes on to the client')
    const program = await visit(at, { ...BUY, fields: ['User-Agent', 'curl/8.9', 'Accept', '*/*'] })
    t.match([program.status, JSON.parse(program.body).error], [403, 'challenge_required'])
    t.equal(program.headers['sallyport-challenge'], '/.sallyport/pass')
    const reserved = await visit(at, { ...BUY, address: '10.0.0.7' })
    t.match([reserved.status, reserved.body], [200, DONE], 'who is never asked')

    const watching = await start(t, await openWithoutData(t, { mode: 'monitor', policy: POLICY }))
    t.teardown(() => watching.close())
    const { status, body, headers } = await visit(watching, BUY)
    t.match([status, body, headers['sallyport-challenge']], [200, DONE, undefined])
  })
}

t.test('an origin that writes no level asks nobody, and its field goes no further', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  for (const value of ['0', '4', 'yes', '']) {
    const at = await startAsking(t, sallyport, value)
    const { status, headers, body } = await visit(at, { ...BUY, fields: BROWSER.slice(0, 2) })
    t.match([status, body, headers['sallyport-challenge']], [200, DONE, undefined], value)
  }
})

t.test('an origin that asks where machines have no secret in common asks nobody, and that is said once', async (t) => {
  const config = { policy: POLICY, redis: 'redis://127.0.0.1:1', timeouts: { counting: '50ms' } }
  const sallyport = await openWithoutData(t, config, { onFault: () => {} })
  const notices: string[] = []
  const at = await startAsking(t, sallyport, '2', (message) => notices.push(message))
  for (const target of ['/buy', '/buy', '/other']) {
    const { status, headers } = await visit(at, { target })
    t.match([status, headers['sallyport-challenge']], [200, undefined])
  }
  t.match(notices, [
    /^An origin requests challenges \(sallyport-challenge: 2\), but no client gets a challenge: challenge\.secret: is missing/,
  ])
  t.equal(notices.length, 1)
})

t.test('options that are none are refused at start', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  t.throws(() => challenge(sallyport, { level: 4 as never }), /level/)
  t.throws(() => challenge(sallyport, { level: 1, script: 'required' }), /script/)
  t.throws(() => forExpress.challenge({ decide: sallyport.decide }), { code: 'invalid_config' })
})
