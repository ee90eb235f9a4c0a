import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { DATA_DIR } from './data-dir.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples/dist')

for (const name of ['express', 'koa', 'fastify']) {
  t.test(`examples/${name}.ts`, async (t) => {
    const child = spawn(process.execPath, [join(EXAMPLES, `${name}.js`)], {
      env: { ...process.env, PORT: '0', DATA_DIR },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'close')
    t.teardown(() => child.kill('SIGKILL'))
    const { value: line = 'nothing' } = await createInterface(child.stdout)[Symbol.asyncIterator]().next()
    const url = /^Listening on (http:\S+)$/.exec(line)?.[1]
    if (url === undefined) return t.fail(`it said ${line}`)

    const visit = (address: string, path = '/') => fetch(url + path, { headers: { 'x-forwarded-for': address } })
    t.same(await (await visit('73.162.10.20')).json(), { action: 'allow', networkClass: 'residential_clean' })
    const blocked = await visit('185.220.101.10')
    t.equal(blocked.status, 403)
    t.hasStrict(await blocked.json(), { error: 'request_blocked' })
    t.hasStrict(await (await visit('73.162.10.20', '/v1/openapi.json')).json(), { info: { version: '1.1.0' } })

    child.kill('SIGTERM')
    t.same(await ended, [0, null], 'a signal ends it in order')
  })
}
