import { setImmediate } from 'node:timers/promises'
import { type Dns, formatAddress } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import type { ConfigInput } from '../../src/config/schema.ts'
import type { Sallyport } from '../../src/open/index.ts'
import type { OpenHooks } from '../../src/service/hooks.ts'
import { openMade } from './opened.ts'
import { requestFrom } from './requests.ts'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'
const BROWSER = Object.entries({
  Host: 'shop.example',
  'User-Agent': CHROME,
  Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'Accept-Encoding': 'gzip, deflate',
  'Accept-Language': 'de-AT,de;q=0.9',
  'Upgrade-Insecure-Requests': '1',
}).flat()
/** A browser without fetch metadata that follows a link of the site. */
const OWN = [...BROWSER, 'Referer', 'http://shop.example/list']
const PROGRAM: readonly string[] = ['Host', 'shop.example', 'User-Agent', 'python-requests/2.32', 'Accept', '*/*']

const POLICY = {
  preset: 'observe',
  strikes: { count: 1, window: '10m', on: ['decoy'], for: '1h' },
} satisfies ConfigInput['policy']
const DECOYS = { paths: ['/trap', '/archive/2019', '/staff/rota'] }

function opened(t: Test, config: ConfigInput = {}, hooks: OpenHooks = {}): Promise<Sallyport> {
  const base: ConfigInput = { counting: { place: 'memory' }, decoys: DECOYS, policy: POLICY }
  return openMade(t, { ...base, ...config }, hooks)
}

/** A request and its answer, as hosts have them counted. */
async function visit(sallyport: Sallyport, peer: string, target: string, fields = PROGRAM, method = 'GET') {
  const decided = sallyport.decide({ ...requestFrom(peer, fields), method, target })
  const { decision, ended } = await sallyport.count(decided, fields)
  ended?.(404)
  await setImmediate()
  return decision
}

async function isBanned(sallyport: Sallyport, peer: string, fields?: readonly string[]): Promise<boolean> {
  const { action, reasons } = await visit(sallyport, peer, '/', fields)
  return action === 'block' && ['policy:strikes', 'policy:scanner-guard'].includes(reasons[0]?.id ?? '')
}

t.test('who asks for a decoy is banned, however it is written, and by any method', async (t) => {
  const sallyport = await opened(t)
  const spellings = ['/trap', '/TRAP', '//trap', '/trap/', '/%74rap', '/x/../trap', '/trap?page=2', '/trap;a']
  for (const [at, target] of spellings.entries()) {
    const peer = `8.1.0.${at}`
    const { action } = await visit(sallyport, peer, target, PROGRAM, ['GET', 'HEAD', 'POST', 'PROPFIND'][at % 4])
    t.equal(action, 'allow', `${target} is answered by the site`)
    t.ok(await isBanned(sallyport, peer), target)
  }
  for (const [at, target] of ['/trap/more', '/trapped', '/x/trap', '/?trap', '/tra', '/trap.html'].entries()) {
    await visit(sallyport, `8.1.2.${at}`, target)
    t.notOk(await isBanned(sallyport, `8.1.2.${at}`), target)
  }
  t.match(await visit(sallyport, '8.1.0.0', '/'), {
    reasons: [{ id: 'policy:strikes', text: /for 1 strike: 1 decoy\. / }],
  })
})

t.test('who is led there is not struck', async (t) => {
  const sallyport = await opened(t, { policy: { ...POLICY, allowlist: ['8.2.9.0/24'] } })
  const led: readonly (readonly [string, readonly string[]])[] = [
    ['a prefetch', [...BROWSER, 'Sec-Purpose', 'prefetch;prerender']],
    ['a prefetch of Firefox', [...BROWSER, 'X-Moz', 'prefetch']],
    ['a link preview', ['User-Agent', 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)']],
    ['an image', [...BROWSER, 'Sec-Fetch-Dest', 'image', 'Sec-Fetch-Mode', 'no-cors', 'Sec-Fetch-Site', 'same-origin']],
    ['a script of an extension', [...BROWSER, 'Sec-Fetch-Dest', 'empty', 'Sec-Fetch-Site', 'same-origin']],
    ['a frame', [...BROWSER, 'Sec-Fetch-Dest', 'iframe', 'Sec-Fetch-Site', 'same-origin']],
    ['a link of another site', [...BROWSER, 'Sec-Fetch-Dest', 'document', 'Sec-Fetch-Site', 'cross-site']],
    ['a link of a neighbour', [...BROWSER, 'Sec-Fetch-Dest', 'document', 'Sec-Fetch-Site', 'same-site']],
    ['an image over plain HTTP', BROWSER.with(5, 'image/avif,image/webp,*/*;q=0.8')],
  ]
  for (const [at, [who, fields]] of led.entries()) {
    const peer = `8.2.0.${at}`
    for (const path of DECOYS.paths) await visit(sallyport, peer, path, fields)
    t.notOk(await isBanned(sallyport, peer, fields), who)
    await visit(sallyport, peer, '/trap', PROGRAM)
    t.ok(await isBanned(sallyport, peer), `${who}, and a program at that address`)
  }
  await visit(sallyport, '8.2.9.1', '/trap')
  await visit(sallyport, '192.168.1.1', '/trap')
  t.notOk(await isBanned(sallyport, '8.2.9.1'), 'the allowlist')
  t.notOk(await isBanned(sallyport, '192.168.1.1'), 'an address of the own network')
  const asked = [...BROWSER, 'Sec-Fetch-Dest', 'document', 'Sec-Fetch-Site', 'same-origin']
  await visit(sallyport, '8.2.1.1', '/trap', asked)
  t.ok(await isBanned(sallyport, '8.2.1.1', asked), 'a browser of a machine in a datacenter that follows the link')
})

t.test('who is led there by a page of another site, in a browser without fetch metadata, is challenged', async (t) => {
  const sallyport = await opened(t, { policy: { ...POLICY, limits: ['scanner-guard'] } })
  const framed = [...BROWSER, 'Referer', 'http://evil.example/']
  const isChallenged = async (peer: string, rule: string) => {
    const decision = await visit(sallyport, peer, '/', BROWSER)
    return decision.action === 'challenge' && decision.enforced && decision.reasons[0]?.id === `policy:${rule}`
  }
  await visit(sallyport, '8.2.0.1', '/trap', framed)
  t.ok(await isChallenged('8.2.0.1', 'strikes'))
  t.match(await sallyport.bans.list(), [{ on: 'decoy:led', offences: { 'decoy:led': 1 } }])
  t.same(await sallyport.exportedBans(), [], 'no firewall hears of it')
  for (const target of ['/trap', '/staff/rota']) await visit(sallyport, '8.1.0.1', target, framed)
  t.ok(await isChallenged('8.1.0.1', 'strikes'), 'a person at home too')
  const robots = await visit(sallyport, '8.2.0.1', '/robots.txt', BROWSER)
  t.equal(robots.action, 'allow', 'what is never challenged goes on')
  for (const target of SCAN) await visit(sallyport, '8.2.0.2', target, framed)
  t.ok(await isChallenged('8.2.0.2', 'scanner-guard'))
  for (const target of SCAN.slice(0, 4)) {
    await visit(sallyport, '8.2.0.3', target, framed)
    await visit(sallyport, '8.2.0.3', target, PROGRAM)
  }
  t.equal((await visit(sallyport, '8.2.0.3', '/', BROWSER)).action, 'allow', 'the strikes of others are not added')
  for (const [at, fields] of [
    [...PROGRAM, 'Referer', 'http://evil.example/'],
    [...BROWSER, 'Referer', 'http://SHOP.example:8080/list'],
    [...BROWSER, 'Referer', 'nowhere'],
  ].entries()) {
    await visit(sallyport, `8.2.1.${at}`, '/trap', fields)
    t.ok(await isBanned(sallyport, `8.2.1.${at}`, fields), `${at}`)
  }
  await visit(sallyport, '8.2.2.1', '/trap', BROWSER)
  t.ok(await isChallenged('8.2.2.1', 'strikes'), 'a page of another site may keep its name to itself')
  const [led] = await sallyport.bans.list()
  const earned = Math.floor((led?.since ?? 0) / 1_000)
  const pass = { id: 'abcdefghijk', level: 2 as const, age: Math.floor(Date.now() / 1_000) - earned }
  const solved = sallyport.decide({ ...requestFrom('8.2.0.1', BROWSER), pass })
  t.equal((await sallyport.count(solved, BROWSER)).decision.action, 'allow', 'a pass lifts it')
})

t.test('who may be led there is banned where machines share no secret to challenge with', async (t) => {
  const sallyport = await opened(t, { redis: 'redis://127.0.0.1:9' })
  await visit(sallyport, '8.2.3.1', '/trap', BROWSER)
  t.ok(await isBanned(sallyport, '8.2.3.1', BROWSER))
  await visit(sallyport, '8.2.3.2', '/trap', [...BROWSER, 'Referer', 'http://evil.example/'])
  t.notOk(await isBanned(sallyport, '8.2.3.2', BROWSER), 'a site that is named excuses')
})

t.test('strikes of any kind to which a page of another site leads a browser challenge it', async (t) => {
  const rules = [{ id: 'admin', match: { path: ['/admin'] }, action: 'block' as const }]
  for (const [on, target] of [
    ['status:404', '/nowhere'],
    ['blocked', '/admin'],
  ] as const) {
    const sallyport = await opened(t, {
      policy: { ...POLICY, rules, strikes: { ...POLICY.strikes, count: 3, on: [on] } },
    })
    const image = [...BROWSER.with(5, 'image/avif,image/webp,*/*;q=0.8'), 'Sec-Fetch-Dest', 'image']
    const led = [...image, 'Sec-Fetch-Mode', 'no-cors', 'Sec-Fetch-Site', 'cross-site']
    const own = [...image, 'Sec-Fetch-Mode', 'no-cors', 'Sec-Fetch-Site', 'same-origin']
    const old = [...BROWSER, 'Referer', 'http://evil.example/']
    for (const [peer, fields, action] of [
      ['8.1.0.1', led, 'challenge'],
      ['8.1.0.2', old, 'challenge'],
      ['8.1.0.3', own, 'block'],
      ['8.1.0.4', [...PROGRAM, 'Sec-Fetch-Site', 'cross-site'], 'block'],
    ] as const) {
      for (let turn = 0; turn < 3; turn++) await visit(sallyport, peer, target, fields)
      t.equal((await visit(sallyport, peer, '/', BROWSER)).action, action, `${on} at ${peer}`)
    }
    for (let turn = 0; turn < 2; turn++)
      for (const fields of [led, own]) await visit(sallyport, '8.1.0.5', target, fields)
    t.equal((await visit(sallyport, '8.1.0.5', '/', BROWSER)).action, 'allow', `${on} of both kinds`)
  }
})

t.test('a trusted proxy is not banned for what it asks itself, or for a client that it does not name', async (t) => {
  const sallyport = await opened(t, { trustProxy: ['8.2.5.0/24', '2a0c:5a80:1:1::1', '2a0c:5a80:1:2:8000::/65'] })
  const ask = async (peer: string, fields: readonly string[]) => {
    for (const target of DECOYS.paths) await visit(sallyport, peer, target, fields)
    return isBanned(sallyport, peer, fields)
  }
  const probe = ['Host', 'shop.example', 'User-Agent', 'GoogleHC/1.0']
  for (const fields of [probe, BROWSER, [...PROGRAM, 'X-Forwarded-For', 'nobody']])
    t.notOk(await ask('8.2.5.1', fields))
  t.same(await sallyport.exportedBans(), [], 'no firewall shuts all of its clients out')
  const named = (client: string) => [...PROGRAM, 'X-Forwarded-For', client]
  t.ok(await ask('8.2.5.1', named('8.2.0.9')), 'a client that it names is')
  t.notOk(await isBanned(sallyport, '8.2.5.1', named('8.2.0.10')), 'and no other')

  // A proxy goes on in a network of IPv6 whose other clients are banned.
  for (const peer of ['2a0c:5a80:1:1::66', '2a0c:5a80:1:2::66', '2a0c:5a80:1:3::66']) t.ok(await ask(peer, PROGRAM))
  for (const [peer, fields] of [
    ['2a0c:5a80:1:1::1', PROGRAM],
    ['2a0c:5a80:1:1::1', named('8.2.0.11')],
    ['2a0c:5a80:1:2:8000::1', PROGRAM],
  ] as const)
    t.notOk(await isBanned(sallyport, peer, fields), peer)
  t.same((await sallyport.exportedBans()).toSorted(), ['2a0c:5a80:1:3::/64', '8.2.0.9'], 'no firewall shuts it out')
})

const BAIDU = ['User-Agent', 'Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)']

t.test('a crawler is struck neither while it is being proven nor when it is; a forged one is', async (t) => {
  let answer = (): void => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const dns: Dns = {
    resolve: async () => ({ state: 'found', addresses: [makeAddress('8.1.3.1')] }),
    async resolvePtr(address) {
      await answered
      const isReal = formatAddress(address) === '8.1.3.1'
      return { state: 'found', names: [isReal ? 'baiduspider-8-1-3-1.crawl.baidu.com' : 'c-8-1-3-2.home.example'] }
    },
  }
  const sallyport = await opened(t, {}, { dns })
  for (const peer of ['8.1.3.1', '8.1.3.2']) {
    const first = await visit(sallyport, peer, '/trap', BAIDU)
    t.match(first.inspection.crawler, { pending: true })
    t.notOk(await isBanned(sallyport, peer, BAIDU))
  }
  answer()
  for (const [peer, outcome, isStruck] of [
    ['8.1.3.1', 'verified', false],
    ['8.1.3.2', 'spoofed', true],
  ] as const) {
    while ((await visit(sallyport, peer, '/', BAIDU)).inspection.crawler?.pending) await setImmediate()
    t.match(await visit(sallyport, peer, '/trap', BAIDU), { inspection: { crawler: { outcome } } })
    t.equal(await isBanned(sallyport, peer, BAIDU), isStruck, outcome)
  }
})

t.test('a person on a home line needs two different decoys, a browser elsewhere and a program one', async (t) => {
  let now = Date.parse('2026-11-26T10:00:00Z')
  const sallyport = await opened(t, {}, { clock: { now: () => now } })
  for (const target of [...Array(20).fill('/trap'), '/TRAP/', '//trap', '/trap?a'])
    await visit(sallyport, '8.1.4.1', target, OWN)
  t.notOk(await isBanned(sallyport, '8.1.4.1', OWN), 'one decoy, again and again')
  for (const [peer, fields, isStruck, who] of [
    ['8.1.4.2', PROGRAM, true, 'a program on a home line'],
    ['8.2.4.1', OWN, true, 'a browser in a datacenter'],
    ['9.9.9.9', OWN, false, 'a browser of a network that is not known'],
  ] as const) {
    await visit(sallyport, peer, '/trap', fields)
    t.equal(await isBanned(sallyport, peer, fields), isStruck, who)
  }
  now += 600_001
  await visit(sallyport, '8.1.4.1', '/staff/rota', OWN)
  t.notOk(await isBanned(sallyport, '8.1.4.1', OWN), 'the first one is forgotten with the window')
  await visit(sallyport, '8.1.4.1', '/archive/2019', OWN)
  t.ok(await isBanned(sallyport, '8.1.4.1', OWN), 'another one')
  now += 3_600_001
  t.notOk(await isBanned(sallyport, '8.1.4.1', OWN), 'the ban has ended')
})

const GUARD = { policy: { preset: 'observe', limits: ['scanner-guard'] } } satisfies ConfigInput
const SCAN = ['/.env', '/.git/config', '/wp-login.php', '/phpmyadmin/index.php', '/cgi-bin/luci']

t.test('five different probes within a minute ban for an hour', async (t) => {
  let now = Date.parse('2026-11-26T10:00:00Z')
  const sallyport = await opened(t, GUARD, { clock: { now: () => now } })
  for (const [at, target] of SCAN.entries()) {
    t.notOk(await isBanned(sallyport, '8.2.5.1'), `${at} different ones`)
    t.equal((await visit(sallyport, '8.2.5.1', target)).action, 'allow', 'the site answers')
    now += 10_000
  }
  t.match(await visit(sallyport, '8.2.5.1', '/'), {
    action: 'block',
    reasons: [{ id: 'policy:scanner-guard', text: /for 5 strikes: 5 probe\. / }],
  })
  const [ban] = await sallyport.bans.list()
  t.match(ban, { key: 'client 8.2.5.1', on: 'probe', count: 5 })
  t.equal((ban?.until ?? 0) - (ban?.since ?? 0), 3_600_000)
  const image = [...BROWSER, 'Sec-Fetch-Dest', 'image', 'Sec-Fetch-Site', 'cross-site']
  for (const target of SCAN) await visit(sallyport, '8.1.5.3', target, image)
  t.notOk(await isBanned(sallyport, '8.1.5.3', BROWSER), 'a reader of a page that lists probes as images')
})

t.test('strikes and scanner-guard count side by side, also with one window', async (t) => {
  const strikes = { count: 5, window: '1m', on: ['decoy', 'status:404'], for: '2h' }
  const sallyport = await opened(t, { policy: { ...GUARD.policy, strikes } })
  for (const target of SCAN.slice(0, 4)) await visit(sallyport, '8.2.6.1', target)
  t.notOk(await isBanned(sallyport, '8.2.6.1'), 'that page was the fifth 404')
  t.match(await visit(sallyport, '8.2.6.1', '/'), { reasons: [{ id: 'policy:strikes' }] })
})

t.test('decoys change with a reload, and so do the links and robots.txt', async (t) => {
  const sallyport = await opened(t, { decoys: { paths: ['/a&b', '/c'] } })
  const link = (path: string) => `<a href="${path}" rel="nofollow" tabindex="-1" aria-hidden="true" hidden></a>`
  t.equal(sallyport.decoyLink(), link('/a&amp;b') + link('/c'))
  const config = sallyport.config as ConfigInput
  await sallyport.reload({ ...config, decoys: { paths: ['/new'] } })
  t.equal(sallyport.decoyLink(), link('/new'))
  t.match(sallyport.robots(), /Disallow: \/new\$\nDisallow: \/new\?\n/)
  await visit(sallyport, '8.2.8.1', '/c')
  t.notOk(await isBanned(sallyport, '8.2.8.1'))
  await visit(sallyport, '8.2.8.1', '/new')
  t.ok(await isBanned(sallyport, '8.2.8.1'))
  await sallyport.reload({ ...config, decoys: { paths: [] } })
  t.equal(sallyport.decoyLink(), '')
})
