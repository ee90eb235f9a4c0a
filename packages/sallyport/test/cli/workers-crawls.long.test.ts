import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { ask, GPTBOT, visit as get, listChildProcesses, run, serve, until, workspace } from './command.ts'

/** A minute of this clock takes three seconds. It begins in the past, so that the export by the real clock is later. */
const CLOCK = 'const now = Date.now; const begun = now(); Date.now = () => begun + 20 * (now() - begun) - 7_200_000'
const MINUTE_MS = 3_000

/** Starts two workers; `stop` ends them and resolves with what their ledger has of the crawler. */
async function startWorkers(t: Test) {
  const { config, command, write } = workspace(t, ['demo: true', 'crawls: pattern'])
  const environment = { NODE_OPTIONS: `--import ${pathToFileURL(write('clock.mjs', CLOCK))}` }
  const argv = ['--trust-proxy', 'loopback', '--workers', '2']
  const proxy = await serve(t, config, argv, 'Console at', environment)
  const { url, admin } = proxy
  const isServing = async () => /_workers\{state="serving"\} 2/.test((await get(`${admin}/metrics`)).text)
  const serves = () =>
    until(async () => listChildProcesses(proxy).length === 2 && (await isServing().catch(() => false)))
  await serves()
  const keys = write('keys.json', (await ask(`${url}/v1/provenance/keys`)).json)
  async function stop() {
    t.equal(await proxy.stop(), 0)
    const { out, err } = await command('report', '--ai', '--evidence', 'OpenAI', '--from', '3h', '--to', '0s')
    t.equal(err, '')
    const { records } = JSON.parse(out) as { readonly records: readonly string[] }
    const verified = await run('evidence', 'verify', write('crawls.json', out), '--keys', keys, '--json')
    const { isProven, paths } = JSON.parse(verified.out)
    t.match({ code: verified.code, isProven }, { code: 0, isProven: true })
    t.match(paths, [{ path: '/articles/*' }])
    return { records: records.length, requests: Number(paths[0].requests) }
  }
  return { url, serves, listWorkers: () => listChildProcesses(proxy), stop }
}

t.test('two workers write one record of a minute, and their records add up in one file that verifies', async (t) => {
  const { url, stop } = await startWorkers(t)
  const begun = performance.now()
  let sent = 0
  while (performance.now() < begun + 6 * MINUTE_MS) {
    await visit(`${url}/articles/${++sent}`)
    await wait(20)
  }
  const minutes = Math.ceil((performance.now() - begun) / MINUTE_MS)
  const { records, requests } = await stop()
  // The span has parts of two minutes at its ends, and a worker writes its own minutes before a worker leads and at its end.
  t.ok(records <= minutes + 4 && minutes >= 6, `${records} records of ${minutes} minutes`)
  t.equal(requests, sent)
})

t.test('a worker that is killed takes its minutes with it; no request counts twice', async (t) => {
  const { url, serves, listWorkers, stop } = await startWorkers(t)
  let [sent, answered] = [0, 0]
  async function crawlFor(minutes: number): Promise<number> {
    const [begun, before] = [performance.now(), answered]
    while (performance.now() < begun + minutes * MINUTE_MS) {
      // The connection of a worker that dies ends without an answer.
      if (await visit(`${url}/articles/${++sent}`).catch(() => false)) answered++
      await wait(20)
    }
    return answered - before
  }
  let kept = await crawlFor(1)
  // The first one leads; then the one that leads since, and one that does not.
  for (const place of [0, 0, 1]) {
    // The processes hand on and write every five seconds, so older minutes are in the ledger by now.
    await crawlFor(5)
    process.kill(listWorkers()[place] as number, 'SIGKILL')
    await crawlFor(1)
    await serves()
    kept += await crawlFor(1)
  }
  kept += await crawlFor(1)
  const { requests } = await stop()
  t.ok(requests <= sent, `${requests} recorded of ${sent} sent: none counts twice`)
  t.ok(requests >= kept, `${requests} recorded of ${answered} answered`)
})

async function visit(url: string): Promise<true> {
  await get(url, { 'user-agent': GPTBOT, 'x-forwarded-for': '5.9.10.20' })
  return true
}
