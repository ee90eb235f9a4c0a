import { setTimeout as delay } from 'node:timers/promises'
import { open } from '@sallyport/engine'
import t from 'tap'
import { openProxy } from '../src/index.ts'
import { type Carried, callerOf, type Named } from './ext-authz-client.ts'

const BROWSER: readonly Named[] = [
  ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'],
  ['accept', 'text/html,application/xhtml+xml'],
  ['sec-fetch-mode', 'navigate'],
  ['sec-fetch-dest', 'document'],
]
const NONE = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6']

t.test('who is asked by gRPC gets the page, answers it, and passes', async (t) => {
  const sallyport = await open({
    dataDir: t.testdir(),
    data: { refresh: false, sources: Object.fromEntries(NONE.map((id) => [id, { enabled: false }])) },
    log: { requests: 'off' },
    trustProxy: ['loopback'],
    policy: { preset: 'observe', rules: [{ id: 'ask', match: {}, action: 'challenge', challenge: { level: 1 } }] },
    challenge: { status: 200 },
  })
  t.teardown(() => sallyport.close())
  const proxy = await openProxy(sallyport, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    extAuthz: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    timeouts: { drain: 0 },
  })
  t.teardown(() => proxy.close('cut'))
  const caller = callerOf(t, String(proxy.extAuthz))
  const visit = (cookie?: string, target = '/shop?item=1', method = 'GET', more: readonly Named[] = []) => {
    const cookies: readonly Named[] = cookie === undefined ? [] : [['cookie', cookie]]
    return caller.about({ visitor: '93.184.216.34', target, method, fields: [...BROWSER, ...cookies, ...more] })
  }
  const cookieOf = ({ headers }: Carried) => (headers['set-cookie'] ?? '').split(';', 1)[0]

  const page = await visit()
  t.match(
    page,
    { status: 200, body: /<html/, headers: { 'cache-control': 'no-store' } },
    'a denied answer of any status',
  )
  t.match(cookieOf(page), /^__Host-sallyport-challenge=/)
  await delay(1_050)
  const back = await visit(cookieOf(page))
  t.match(back, { status: 303, headers: { location: '/shop?item=1' } })
  const passed = await visit(cookieOf(back))
  t.equal(passed.status, undefined)
  t.match(passed.headers, { 'sallyport-action': 'allow', 'sallyport-pass': '1' })
  const solved = await visit(undefined, '/.sallyport/pass', 'POST', [['sallyport-solution', 'none']])
  t.match(solved.headers, { 'sallyport-pass': 'refused' })
  t.equal(JSON.parse(solved.body ?? '').details.reason, 'malformed')
})
