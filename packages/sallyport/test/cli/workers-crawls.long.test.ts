import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ask, listChildProcesses, run, start, until, workspace } from './command.ts'

const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'
const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--trust-proxy', 'loopback']
/** A minute of this clock takes three seconds. It begins in the past, so that the export by the real clock is later. */
const CLOCK = 'const now = Date.now; const begun = now(); Date.now = () => begun + 20 * (now() - begun) - 7_200_000'
const MINUTE_MS = 3_000

t.test('two workers write one record of a minute, and their records add up in one file that verifies', async (t) => {
  const { config, command, write } = workspace(t, ['demo: true', 'crawls: pattern'])
  const environment = { NODE_OPTIONS: `--import ${pathToFileURL(write('clock.mjs', CLOCK))}` }
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '2'], environment)
  await proxy.says('API key')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const admin = /Health at (http:\/\/[^/]+)/.exec(proxy.err())?.[1] ?? ''
  const metrics = async () => (await fetch(`${admin}/metrics`)).text()
  await until(() => listChildProcesses(proxy).length === 2)
  await until(async () => /sallyport_workers\{state="serving"\} 2/.test(await metrics()))
  const keys = write('keys.json', (await ask(`${url}/v1/provenance/keys`)).json)
  const begun = performance.now()
  let requests = 0
  while (performance.now() < begun + 6 * MINUTE_MS) {
    await visit(`${url}/articles/${++requests}`)
    await wait(20)
  }
  const minutes = Math.ceil((performance.now() - begun) / MINUTE_MS)
  proxy.child.kill('SIGTERM')
  t.equal(await proxy.ended, 0)

  const span = ['--from', '3h', '--to', '0s']
  const { out, err } = await command('report', '--ai', '--evidence', 'OpenAI', ...span)
  t.equal(err, '')
  const { records } = JSON.parse(out) as { readonly records: readonly string[] }
  t.comment(`${records.length} records of ${requests} requests`)
  // The span has parts of two minutes at its ends, and a worker writes its own minutes before a worker leads and at its end.
  t.ok(records.length <= minutes + 4 && minutes >= 6, `${records.length} records of ${minutes} minutes`)
  const verified = await run('evidence', 'verify', write('crawls.json', out), '--keys', keys, '--json')
  const { isProven, leftOut, paths } = JSON.parse(verified.out)
  t.match({ code: verified.code, isProven, leftOut }, { code: 0, isProven: true, leftOut: 0 })
  t.match(paths, [{ path: '/articles/*', requests }])
})

/** Requests a page on a connection of its own, which any worker may have. */
async function visit(url: string): Promise<void> {
  const sent = request(url, { agent: false, headers: { 'user-agent': GPTBOT, 'x-forwarded-for': '5.9.10.20' } }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
}
