import type { ConfigInput } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { ADDRESS, BROWSER, passOf, redeem, solutionOf, visit } from './challenge-client.ts'
import { HOSTS, type Host, type RunningHost } from './hosts.ts'
import { exchange, parseResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Attacks by names: of the path that takes solutions, of the host, of cookies in several fields, and by requests in one connection. */
const POLICY = {
  preset: 'observe',
  rules: [{ id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } }],
} satisfies ConfigInput['policy']

function everyHost(name: string, check: (t: Test, at: RunningHost, host: Host) => Promise<void>): void {
  void t.test(name, async (t) => {
    for (const host of HOSTS) {
      // A gate of its own: of one client six hundred questions are taken at once.
      const sallyport = await openWithoutData(t, { policy: POLICY })
      const at = await host.start(sallyport, '')
      await t.test(host.name, (t) => check(t, at, host))
      await at.close()
    }
  })
}

const NAVIGATES = [
  `X-Forwarded-For: ${ADDRESS}`,
  `User-Agent: ${BROWSER[1]}`,
  'Accept: text/html',
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-Dest: document',
]

async function raw({ port }: RunningHost, ...lines: readonly string[]) {
  const sent = [...lines, ...NAVIGATES, 'Connection: close', '', '']
  return parseResponse(await exchange(port, sent.join('\r\n')).catch(() => ''))
}

everyHost('the path of passes opens nothing, however it is written', async (t, at) => {
  const cookie = await passOf(at)
  const targets = [
    '/.sallyport/pass',
    '/.sallyport/pass/',
    '/.sallyport//pass',
    '//.sallyport/pass',
    '/.SALLYPORT/pass',
    '/.sallyport/%70ass',
    '/%2esallyport/pass',
    '/.sallyport/pass%00',
    '/.sallyport/pass;a=b',
    '/.sallyport/pass/../../shop',
    '/.sallyport/pass/..%2f..%2fshop',
    '/.sallyport/pass?sallyport-again=1',
    '/shop/../.sallyport/pass',
    '/shop?next=/.sallyport/pass',
    '/.sallyport/passx',
    'http://site.example/.sallyport/pass',
  ]
  for (const target of targets) {
    for (const method of ['GET', 'POST', 'PUT']) {
      const { status, headers } = await raw(at, `${method} ${target} HTTP/1.1`, 'Host: site.example')
      t.ok([400, 403, 404].includes(status), `${method} ${target}: ${status}`)
      t.notMatch(headers['set-cookie'] ?? '', /sallyport=/, `${method} ${target}`)
    }
    const held = await raw(at, `GET ${target} HTTP/1.1`, 'Host: site.example', `Cookie: ${cookie}`)
    t.notMatch(held.headers['set-cookie'] ?? '', /sallyport=/, `${target}, with a pass`)
  }
})

everyHost('a pass is of the Host field alone, whatever other fields say', async (t, at) => {
  const cookie = await passOf(at)
  const statusOf = async (...lines: readonly string[]): Promise<number> =>
    (await raw(at, 'GET /shop HTTP/1.1', ...lines, `Cookie: ${cookie}`)).status
  for (const host of ['site.example', 'SITE.Example', 'site.example:80', 'site.example:8443']) {
    t.equal(await statusOf(`Host: ${host}`), 200, host)
  }
  const others = ['evil.example', 'evil.example:80', 'xsite.example', 'site.example.evil', 'site.example@evil', '']
  for (const host of others) t.not(await statusOf(`Host: ${host}`), 200, host)
  for (const field of ['X-Forwarded-Host', 'Forwarded', 'X-Original-Host', 'X-Host']) {
    const value = field === 'Forwarded' ? 'host=site.example' : 'site.example'
    t.not(await statusOf('Host: evil.example', `${field}: ${value}`), 200, field)
  }
  t.not(await statusOf('Host: evil.example', 'Host: site.example'), 200, 'two of them')
  t.not(await statusOf('Host: site.example', 'Host: evil.example'), 200, 'two of them')
})

everyHost('a pass counts in any field of cookies, and a flood of others does not hide what it costs', async (t, at) => {
  const cookie = await passOf(at)
  const statusOf = async (...more: readonly string[]): Promise<number> => (await visit(at, { more })).status
  t.equal(await statusOf('Cookie', 'a=b', 'Cookie', cookie), 200, 'in the second field')
  t.equal(await statusOf('Cookie', `a="x;y"; ${cookie}`), 200)
  t.equal(await statusOf('Cookie', `a=b;${cookie};c=d`), 200, 'without blanks')
  t.equal(await statusOf('Cookie', `;;; ;${cookie};;`), 200)
  for (const none of [
    `a=${cookie}`,
    `x${cookie}`,
    `"${cookie}"`,
    cookie.replace('=', '%3D'),
    cookie.replace('=', '=='),
  ]) {
    t.equal(await statusOf('Cookie', none), 403, none)
  }
  t.not(await statusOf('Cookie', 'a; '.repeat(5_000)), 200, 'thousands')
  t.equal(await statusOf('Cookie', cookie), 200)
})

everyHost('requests of one connection are asked one by one', async (t, at) => {
  const cookie = await passOf(at)
  const request = (last: boolean, ...more: readonly string[]): string =>
    [
      'GET /shop HTTP/1.1',
      'Host: site.example',
      ...NAVIGATES,
      ...more,
      ...(last ? ['Connection: close'] : []),
      '',
      '',
    ].join('\r\n')
  const bring = `Cookie: ${cookie}`
  const bytes = [request(false), request(false, bring), request(false), request(true, bring)].join('')
  const answered = await exchange(at.port, bytes)
  t.same(
    [...answered.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    [403, 200, 403, 200],
  )
})

everyHost('huge and odd solutions are one refusal, and spend nothing', async (t, at, host) => {
  // A client tries thirty a minute.
  const address = `93.184.217.${HOSTS.indexOf(host) + 1}`
  const solution = solutionOf(await visit(at, { address }))
  const [text = '', numbers = ''] = solution.split('.')
  const odd = [
    `${text}.${'0'.repeat(1_900)}`,
    `${text}.${numbers},${numbers}`,
    `${text}.${numbers.replace(/\d+/, '0x1')}`,
    `${text}.${numbers.replace(/\d+/, '1e3')}`,
    `${text}.${numbers.replace(/\d+/, '9999999999')}`,
    `${text}.${numbers.replaceAll(',', ', ')}`,
    `${text}%2e${numbers}`,
    `${text}=.${numbers}`,
    `${text.replaceAll('-', '+').replaceAll('_', '/')}+.${numbers}`,
  ]
  for (const bad of odd) {
    const { status, headers } = await redeem(at, bad, { address })
    t.match([status, headers['sallyport-pass']], [403, 'refused'], bad.slice(90, 130))
    t.notMatch(headers['set-cookie'] ?? '', /sallyport=/)
  }
  t.equal((await redeem(at, solution, { address })).status, 204)
})
