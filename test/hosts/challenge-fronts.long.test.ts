import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, NO_NEIGHBOURS } from '@sallyport/engine/testing'
import { openProxy } from '@sallyport/proxy'
import t, { type Test } from 'tap'
import { ROOT } from '../workspaces.ts'
import { ADDRESS, BROWSER, cookieOf, redeem, solutionOf, visit } from './challenge-client.ts'
import { running } from './hosts.ts'
import { openWithoutData } from './without-data.ts'

/* nginx and Caddy ask at /.sallyport/check, as the examples configure them: a visitor is asked, answers, and is let through. */
type Front = 'nginx' | 'caddy'

const missing = (command: string): string | false =>
  NO_NEIGHBOURS || (spawnSync(command, ['-v']).error !== undefined && `no ${command} on this machine`)

/** An example's text with parts replaced; a client on loopback is one of a public address here. */
function example(name: string, replaced: readonly (readonly [string, string])[]): string {
  const text = readFileSync(join(ROOT, 'examples', name), 'utf8')
  return replaced.reduce((made, [from, to]) => {
    if (!made.includes(from)) throw new Error(`${name} has no ${from}`)
    return made.replaceAll(from, to)
  }, text)
}

async function start(t: Test, front: Front, gate: string, origin: string): Promise<{ readonly port: number }> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-fronts-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'config')
  if (front === 'caddy') {
    const up = `header_up X-Forwarded-For ${ADDRESS}`
    const site = example('caddy/Caddyfile', [
      ['reverse_proxy 127.0.0.1:8080', `reverse_proxy ${gate} {\n${up}\n}`],
      ['forward_auth 127.0.0.1:8080 {', `forward_auth ${gate} {\n${up}`],
      ['127.0.0.1:3000', origin],
      ['site.example {', `http://site.example:${port} {\n\tbind 127.0.0.1`],
    ])
    writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`)
    await run(t, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile'], port)
    return { port }
  }
  mkdirSync(join(folder, 'logs'))
  const site = example('nginx/site.conf', [
    ['127.0.0.1:8080', gate],
    ['127.0.0.1:3000', origin],
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ['$remote_addr', ADDRESS],
  ])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const main = `daemon off; pid ${folder}/pid; error_log stderr; ${user} events {}`
  writeFileSync(file, `${main} http { access_log off; ${temporary.join(' ')} ${site} }`)
  await run(t, 'nginx', ['-p', folder, '-c', file], port)
  return { port }
}

async function run(t: Test, command: string, args: readonly string[], port: number): Promise<void> {
  const child: ChildProcess = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: '/tmp' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text))
  t.teardown(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'close')
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`)
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await delay(20)
  }
}

for (const front of ['nginx', 'caddy'] as const) {
  for (const level of [1, 2] as const) {
    t.test(`${front}, level ${level}`, { skip: missing(front) }, async (t) => {
      const rule = { id: 'ask', match: {}, action: 'challenge', challenge: { level } } as const
      const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: [rule] } })
      const gate = await openProxy(sallyport, {
        listen: '127.0.0.1:0',
        admin: '127.0.0.1:0',
        forwardAuth: front,
        limits: { eventLoopDelay: '1m' },
        timeouts: { drain: 0 },
      })
      t.teardown(() => gate.close('cut'))
      const origin = await running(createServer((req, res) => res.end(JSON.stringify(req.headers))))
      t.teardown(() => origin.close())
      const at = await start(t, front, new URL(gate.url).host, `127.0.0.1:${origin.port}`)
      const page = await visit(at)
      t.match([page.status, page.headers['content-type']], [403, 'text/html; charset=utf-8'])
      t.match(page.headers['set-cookie'], /^sallyport-challenge=[\w-]{96};/)
      t.match(page.headers['cache-control'], 'no-store')
      let cookie: string
      if (level === 2) {
        const given = await redeem(at, solutionOf(page))
        t.ok(given.headers['sallyport-pass'] === '2', given.body)
        cookie = cookieOf(given)
        t.match((await redeem(at, solutionOf(page))).headers['sallyport-pass'], 'refused', 'once')
      } else {
        t.equal((await visit(at, { cookie: cookieOf(page) })).status, 403, 'too early')
        await delay(1_050)
        const back = await visit(at, { cookie: cookieOf(page) })
        t.match([back.status, back.headers['location']], [303, '/shop?item=1'])
        cookie = cookieOf(back)
      }
      t.match(cookie, /^sallyport=[\w-]{52}$/)
      const seen = await visit(at, { cookie })
      t.equal(seen.status, 200)
      t.match(JSON.parse(seen.body), { 'sallyport-action': 'allow', 'sallyport-pass': String(level) })
      const program = await visit(at, { fields: [...BROWSER.slice(0, 2), 'Accept', 'application/json'] })
      t.match([program.status, JSON.parse(program.body).error], [403, 'challenge_required'])
      t.equal(program.headers['sallyport-challenge'], '/.sallyport/pass')
      const form = await visit(at, { method: 'POST', body: 'a=1' })
      t.match([form.status, form.headers['content-type']], [403, 'text/html; charset=utf-8'])
      t.equal((await visit(at, { target: '/robots.txt' })).status, 200, 'never asked')
    })
  }
}

t.test('Traefik: its check is answered as it relays answers', async (t) => {
  const rule = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 1 } } as const
  const sallyport = await openWithoutData(t, {
    policy: { preset: 'observe', rules: [rule] },
    // No status of a page is one by which a server would forward the request.
    challenge: { status: 200 },
  })
  const gate = await openProxy(sallyport, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    forwardAuth: 'traefik',
    limits: { eventLoopDelay: '1m' },
    timeouts: { drain: 0 },
  })
  t.teardown(() => gate.close('cut'))
  const at = { port: Number(new URL(gate.url).port) }
  const of = (uri: string, method = 'GET'): readonly string[] => [
    'X-Forwarded-Method',
    method,
    'X-Forwarded-Uri',
    uri,
    'X-Forwarded-Host',
    'shop.example',
    'X-Forwarded-Proto',
    'https',
  ]
  const check = (cookie?: string, uri = '/shop?item=1') =>
    visit(at, { target: '/.sallyport/check', more: of(uri), cookie })
  const page = await check()
  t.match([page.status, page.headers['sallyport-status']], [403, '200'])
  t.match(cookieOf(page), /^__Host-sallyport-challenge=/)
  await delay(1_050)
  const back = await check(cookieOf(page))
  t.match([back.status, back.headers['location']], [303, '/shop?item=1'])
  t.match([(await check(cookieOf(back))).status], [200])
  const solved = await visit(at, {
    target: '/.sallyport/check',
    more: [...of('/.sallyport/pass', 'POST'), 'sallyport-solution', 'none'],
    fields: BROWSER.slice(0, 2),
  })
  t.match(
    [solved.status, solved.headers['sallyport-pass'], JSON.parse(solved.body).details.reason],
    [403, 'refused', 'malformed'],
  )
})
