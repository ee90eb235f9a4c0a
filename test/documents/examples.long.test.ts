import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { addRule, checkGuardedPage, edit } from '../packaging/guarded-page.ts'
import { ROOT } from '../workspaces.ts'

const EXAMPLES = join(ROOT, 'examples/dist')

/** Hands the handler of an example two events. */
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
async function run(
  t: Test,
  program: readonly string[],
  env: Readonly<Record<string, string>>,
  look: (visit: Visit, url: string) => Promise<void>,
) {
  const child = spawn(process.execPath, program, {
    cwd: EXAMPLES,
    env: { ...process.env, DATA_DIR, REFRESH: 'false', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  const listening = () => /^Listening on (http:[^\s,]+)/m.exec(said)?.[1]
  while (listening() === undefined && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20))
  const url = listening()
  if (url === undefined) return t.fail(`it said ${said}`)

  const visit: Visit = (address, path = '/') => fetch(url + path, { headers: { 'x-forwarded-for': address } })
  const blocked = await visit('185.220.101.10')
  t.equal(blocked.status, 403)
  t.hasStrict(await blocked.json(), { error: 'request_blocked' })
  t.hasStrict(await (await visit('73.162.10.20', '/v1/openapi.json')).json(), { info: { version: '1.1.0' } })
  await look(visit, url)

  child.kill('SIGINT')
  t.same(await ended, [0, null], 'a signal ends it in order')
}

const SERVERS = 'express koa fastify node hono h3 elysia websockets'.split(' ')

for (const name of SERVERS) {
  t.test(`examples/${name}.ts`, (t) =>
    run(t, [`${name}.js`], { PORT: '0' }, async (visit) => {
      t.same(await (await visit('73.162.10.20')).json(), { action: 'allow', networkClass: 'residential_clean' })
    }),
  )
}

/** A page at /admin in the words of each framework; the others have no router, and the conformance table asks them. */
const ADMIN: Readonly<Record<string, readonly [text: string, other: string]>> = {
  express: ["app.get('/'", "app.get('/admin', (_, res) => res.send('reached-admin')); app.get('/'"],
  fastify: ["app.get('/'", "app.get('/admin', () => 'reached-admin'); app.get('/'"],
  hono: ["app.get('/'", "app.get('/admin', (c) => c.text('reached-admin')); app.get('/'"],
  h3: [".get('/'", ".get('/admin', () => 'reached-admin').get('/'"],
  elysia: [".get('/'", ".get('/admin', () => 'reached-admin').get('/'"],
}

for (const [name, [text, other]] of Object.entries(ADMIN)) {
  t.test(`examples/${name}.ts with a rule on a page`, (t) => {
    const program = edit(addRule(readFileSync(join(EXAMPLES, `${name}.js`), 'utf8')), text, other)
    return run(t, ['--input-type=module', '--eval', program], { PORT: '0' }, (_, url) =>
      checkGuardedPage(t, Number(new URL(url).port)),
    )
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

t.test('examples/proxy.ts', (t) =>
  run(t, ['proxy.js'], { LISTEN: '127.0.0.1:0' }, async (visit) => {
    t.same(await (await visit('73.162.10.20')).json(), { action: 'allow', networkClass: 'residential_clean' })
  }),
)
