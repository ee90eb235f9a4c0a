import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createAgentKeys, openSimulated } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { startOrigin } from '../hosts/proxy.ts'
import { makeQuietConfig } from '../hosts/without-data.ts'
import { addRule, checkGuardedPage, edit } from '../packaging/guarded-page.ts'
import { started } from '../started.ts'
import { ROOT } from '../workspaces.ts'

const EXAMPLES = join(ROOT, 'examples/dist')

const ASK_LAMBDA = `
const { handler } = await import(process.env.FILE)
const statuses = []
for (const sourceIp of ['185.220.101.10', '73.162.10.20']) {
  const requestContext = { domainName: 'site.example', http: { method: 'GET', sourceIp } }
  const event = { rawPath: '/', rawQueryString: '', headers: {}, isBase64Encoded: false, requestContext }
  const { statusCode, body } = await handler(event)
  statuses.push([statusCode, JSON.parse(body).error ?? JSON.parse(body).action])
}
process.send(statuses, () => process.exit())
`

type Visit = (address: string, path?: string) => Promise<Response>

/** Starts a compiled example on a free port, visits it, and ends it as a supervisor would. */
async function run(t: Test, program: readonly string[], look?: (visit: Visit, url: string) => Promise<unknown>) {
  const env = { DATA_DIR, REFRESH: 'false', PORT: '0', LISTEN: '127.0.0.1:0' }
  const server = await started(t, program, env, 'Listening on http:', EXAMPLES)
  const url = /^Listening on (http:[^\s,]+)/m.exec(`${server.out()}\n${server.err()}`)?.[1] ?? ''
  const visit: Visit = (address, path = '/') => fetch(url + path, { headers: { 'x-forwarded-for': address } })
  const blocked = await visit('185.220.101.10')
  t.equal(blocked.status, 403)
  t.hasStrict(await blocked.json(), { error: 'request_blocked' })
  t.hasStrict(await (await visit('73.162.10.20', '/v1/openapi.json')).json(), { info: { version: '1.1.0' } })
  await look?.(visit, url)
  t.equal(await server.stop(), 0, 'a signal ends it in order')
}

for (const name of 'express koa fastify node hono h3 elysia websockets mcp proxy'.split(' ')) {
  t.test(`examples/${name}.ts`, (t) =>
    run(t, [`${name}.js`], async (visit) => {
      t.same(await (await visit('73.162.10.20')).json(), { action: 'allow', networkClass: 'residential_clean' })
    }),
  )
}

const BOT = { id: 'bot', action: 'allow' } as const

t.test('examples/signed-bot.ts', async (t) => {
  const [dataDir, agent] = [t.testdir(), 'https://bot.example']
  const { file } = createAgentKeys({ dataDir }, agent, Date.now())
  const config = makeQuietConfig(t, {
    dataDir,
    net: { outbound: false },
    webBotAuth: { agents: [agent] },
    policy: { preset: 'observe', default: 'block', rules: [{ ...BOT, match: { identity: [agent] } }] },
  })
  const sallyport = await openSimulated([{ agent, document: JSON.parse(readFileSync(file, 'utf8')) }], config)
  t.teardown(() => sallyport.close())
  const origin = await startOrigin(t, ({ method = '', url: target = '', rawHeaders: fields }, response) => {
    const request = { peer: '8.8.8.8', method, target, scheme: 'http', httpVersion: '1.1', fields } as const
    response.writeHead(sallyport.decide(request).action === 'allow' ? 200 : 403).end('text')
  })
  const url = `${origin}/a?b=c`
  t.equal((await fetch(url)).status, 403)
  const bot = spawn(process.execPath, ['signed-bot.js', url], { cwd: EXAMPLES, env: { ...process.env, KEYS: file } })
  const [said] = await Promise.all([text(bot.stdout), once(bot, 'close')])
  t.equal(said, 'fetch 200\nundici 200\nnode:http 200\n')
})

t.test('examples/mcp-client.ts', (t) =>
  run(t, ['mcp.js'], async (_, url) => {
    const { out } = await started(t, ['mcp-client.js', `${url}/mcp`], {}, '"code":403', EXAMPLES)
    const lines = out().trim().split('\n')
    t.same(lines.slice(0, 3), Array(3).fill('[{"type":"text","text":"search: done"}]'))
    t.match(lines[3], /^search: .*"id":4,"error":\{"code":429,/)
    t.match(lines[4], /^delete: .*"id":5,"error":\{"code":403,/)
    t.equal(lines.length, 5)
  }),
)

/** A page at /admin in the words of each framework; the others have no router, and the conformance table asks them. */
const ADMIN: Readonly<Record<string, readonly [text: string, other: string]>> = {
  express: ["app.get('/'", "app.get('/admin', (_, res) => res.send('reached-admin')); app.get('/'"],
  fastify: ["app.get('/'", "app.get('/admin', () => 'reached-admin'); app.get('/'"],
  hono: ["app.get('/'", "app.get('/admin', (c) => c.text('reached-admin')); app.get('/'"],
  h3: [".get('/'", ".get('/admin', () => 'reached-admin').get('/'"],
  elysia: [".get('/'", ".get('/admin', () => 'reached-admin').get('/'"],
}

for (const [name, [written, other]] of Object.entries(ADMIN)) {
  t.test(`examples/${name}.ts with a rule on a page`, (t) => {
    const program = edit(addRule(readFileSync(join(EXAMPLES, `${name}.js`), 'utf8')), written, other)
    const argv = ['--input-type=module', '--eval', program]
    return run(t, argv, (_, url) => checkGuardedPage(t, Number(new URL(url).port)))
  })
}

t.test('examples/lambda.ts', async (t) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', ASK_LAMBDA], {
    env: { ...process.env, DATA_DIR, REFRESH: 'false', FILE: join(EXAMPLES, 'lambda.js') },
    // Its log goes to standard output.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [answers] = await once(child, 'message')
  t.same(answers, [
    [403, 'request_blocked'],
    [200, 'flag'],
  ])
  await once(child, 'close')
})

t.test('examples/passport.ts', (t) => run(t, ['passport.js']))
