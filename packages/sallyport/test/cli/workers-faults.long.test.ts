import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort, listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { ask, listChildProcesses, type Started, serve, start, until, workspace } from './command.ts'

const BLOCKING = 'policy: { rules: [{ id: shut, match: { path: ["/**"] }, action: block }] }\n'

const listenOn = async () => ['--listen', `127.0.0.1:${await freePort()}`, '--admin', `127.0.0.1:${await freePort()}`]

/** A proxy with workers, on ports of its own: one that was free may be another after all workers have gone. */
async function startWorkers(t: Test, workers: number, lines: readonly string[] = []) {
  const { folder, config } = workspace(t, ['demo: true', ...lines])
  const argv = [...(await listenOn()), '--workers', String(workers)]
  const proxy = await serve(t, config, argv)
  const { url, admin } = proxy
  const areServing = (count = workers) => until(async () => (await readiness(admin))['serving'] === count)
  await areServing()
  return { folder, config, proxy, url, admin, areServing, command: ['proxy', '--config', config, ...argv] }
}

/** Reads one answer over a connection of its own; `undefined` where none comes in time, as from a stopped worker. */
async function readAnswer(url: string): Promise<{ readonly status: number; readonly body: string } | undefined> {
  const sent = request(url, { agent: false, signal: AbortSignal.timeout(2_000) }).end()
  try {
    const [response] = await once(sent, 'response')
    return { status: response.statusCode, body: await text(response) }
  } catch {
    return undefined
  }
}

const readStatus = async (url: string) => (await readAnswer(url))?.status

async function readiness(admin: string): Promise<Readonly<Record<string, number>>> {
  return JSON.parse((await readAnswer(`${admin}/readyz`))?.body ?? '{}')['workers'] ?? {}
}

const splitLines = (proxy: Pick<Started, 'err'>, line: string): number => proxy.err().split(line).length - 1

/* Two of these tests run at one time, because they wait more than they compute. */
t.test('faults of workers', async (t) => {
  t.jobs = 2

  t.test('a worker that hangs is seen, replaced, and does not hold the end up', { buffered: true }, async (t) => {
    const { proxy, url, admin, areServing } = await startWorkers(t, 3, ['timeouts: { drain: 1s }'])
    const stop = (pid = 0): void => {
      t.teardown(() => {
        // The proxy has killed it, as it should.
        if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL')
      })
      process.kill(pid, 'SIGSTOP')
    }
    const [leader, second] = listChildProcesses(proxy)
    stop(leader)
    await until(async () => (await readiness(admin))['silent'] === 1)
    t.same(await readiness(admin), { wanted: 3, serving: 3, silent: 1 })
    t.match((await readAnswer(`${admin}/metrics`))?.body, 'sallyport_workers{state="silent"} 1')
    await until(() => proxy.err().includes(`worker ${leader} ended (SIGKILL); starting another.`))
    t.match(proxy.err(), `worker ${leader} has not responded for 20 s; killing it.`)
    await areServing()
    t.same(await readiness(admin), { wanted: 3, serving: 3, silent: 0 })
    t.equal(await readStatus(url), 200)
    proxy.child.kill('SIGHUP')
    await proxy.says('configuration reloaded: nothing has changed.')
    t.equal(splitLines(proxy, 'configuration reloaded'), 1, 'the next one leads')

    stop(second)
    await until(async () => (await readiness(admin))['silent'] === 1)
    const began = performance.now()
    t.equal(await proxy.stop(), 0)
    t.ok(performance.now() - began < 15_000, 'before it would have been replaced')
  })

  t.test(
    'a faulty file keeps no worker from being replaced, and reloads go on when the first is gone',
    { buffered: true },
    async (t) => {
      const { folder, config, proxy, url, areServing } = await startWorkers(t, 2, ['watch: false'])
      const first = readFileSync(config, 'utf8')
      const log = join(folder, 'requests.log')
      const audits = (): number =>
        existsSync(log) ? (readFileSync(log, 'utf8').match(/"audit":"reload"/g)?.length ?? 0) : 0
      writeFileSync(config, 'mode: loud\nnonsense: [')
      const killed = listChildProcesses(proxy)
      for (const pid of killed) process.kill(pid, 'SIGKILL')
      await until(() => killed.every((pid) => proxy.err().includes(`worker ${pid} ended (SIGKILL); starting another.`)))
      await areServing()
      t.equal(await readStatus(url), 200, 'they serve with what was in force')

      proxy.child.kill('SIGHUP')
      await proxy.says('configuration unchanged')
      writeFileSync(config, `${first}${BLOCKING}log: { file: ${log} }\n`)
      proxy.child.kill('SIGHUP')
      await proxy.says('configuration reloaded: ')
      await until(() => audits() === 1)
      await until(async () => (await readStatus(url)) === 403 && (await readStatus(url)) === 403)
      t.equal(splitLines(proxy, 'configuration reloaded: '), 1, 'one worker says it')
      t.equal(splitLines(proxy, 'configuration unchanged'), 1)
      t.equal(audits(), 1, 'and writes it down')

      // Each of the next two leads until it is killed. One that comes to lead while it reloads reports that reload too.
      let lines = `${first}${BLOCKING}log: { file: ${log} }\n`
      for (const [key, line] of [
        ['clientHeader', 'clientHeader: x-1'],
        ['timeouts.drain', 'timeouts: { drain: 9s }'],
      ] as const) {
        const [leader] = listChildProcesses(proxy)
        process.kill(leader as number, 'SIGKILL')
        await proxy.says(`worker ${leader} ended`)
        await areServing()
        t.equal(await readStatus(url), 403, 'also under what a reload has taken over')
        lines += `${line}\n`
        writeFileSync(config, lines)
        const written = audits()
        proxy.child.kill('SIGHUP')
        await proxy.says(`${key} applied.`)
        await until(() => audits() > written)
      }
      t.equal(await proxy.stop(), 0)
    },
  )

  t.test(
    'a ledger that contradicts its checkpoints: no start at first, and one as soon as it is right',
    { buffered: true },
    async (t) => {
      const { folder, proxy, url, areServing, command } = await startWorkers(t, 2)
      const ledger = join(folder, 'data', 'ledger.db')
      const body = '{"ip":"192.0.2.1","claimed_jurisdiction":"DE"}'
      await ask(`${url}/v1/provenance/check`, { authorization: `Bearer ${proxy.key}` }, body)
      t.equal(await proxy.stop(), 0)

      renameSync(ledger, `${ledger}.away`)
      const alone = start(t, command.slice(0, -2))
      t.equal(await alone.ended, 1)
      t.match(alone.err(), /^sallyport: .* is of another ledger/m)
      const refused = start(t, command)
      t.equal(await refused.ended, 1)
      t.equal(refused.err(), alone.err(), 'the command ends as one process does')

      renameSync(`${ledger}.away`, ledger)
      const again = start(t, command)
      await again.says('Listening')
      await areServing()
      renameSync(ledger, `${ledger}.away`)
      const killed = listChildProcesses(again)
      for (const pid of killed) process.kill(pid, 'SIGKILL')
      await until(() => splitLines(again, 'is of another ledger') >= 2)
      t.ok(splitLines(again, 'ended (exit 1); starting another.') >= 1, 'one that cannot start exits')
      t.ok(listChildProcesses(again).length <= 1, 'one tries for all')
      renameSync(`${ledger}.away`, ledger)
      await areServing()
      t.equal(await readStatus(url), 200)
      t.equal(splitLines(again, 'Listening on'), 1)
      t.equal(await again.stop(), 0)
    },
  )

  t.test('counts of those who are killed or leave stay in the sums', { buffered: true }, async (t) => {
    const { proxy, url, admin, areServing } = await startWorkers(t, 2)
    const sum = async () => {
      const { body = '' } = (await readAnswer(`${admin}/metrics`)) ?? {}
      const value = (pattern: RegExp): number => Number(pattern.exec(body)?.[1] ?? Number.NaN)
      return {
        count: value(/^sallyport_request_seconds_count\{answered_by="origin",status="2xx"\} (\S+)$/m),
        spent: value(/^process_cpu_seconds_total (\S+)$/m),
      }
    }
    let asked = 0
    const visit = async (): Promise<void> => {
      for (let visits = 0; visits < 10; visits++) if ((await readStatus(url)) === 200) asked++
      await until(async () => (await sum()).count === asked)
    }
    await visit()
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      const before = await sum()
      const victims = signal === 'SIGKILL' ? listChildProcesses(proxy) : listChildProcesses(proxy).slice(0, 1)
      for (const pid of victims) process.kill(pid, signal)
      await until(() => victims.every((pid) => proxy.err().includes(`worker ${pid} ended`)))
      await areServing()
      const after = await sum()
      t.equal(after.count, before.count, `after ${signal}`)
      t.ok(after.spent >= before.spent)
      await visit()
    }
    t.equal(asked, 40)
    t.equal(await proxy.stop('SIGINT'), 0)
  })

  t.test('the worker that leads orders certificates, and no other does', { buffered: true }, async (t) => {
    const orders: number[] = []
    const authority = createServer((_, response) => {
      orders.push(performance.now())
      response.writeHead(503).end()
    })
    const directory = `http://127.0.0.1:${await listening(t, authority)}/dir`
    const { config } = workspace(t, [
      'demo: true',
      `http: 127.0.0.1:${await freePort()}`,
      `tls: { acme: { domains: [site.example], email: ops@site.example, directory: "${directory}" } }`,
    ])
    const proxy = await serve(t, config, [...(await listenOn()), '--workers', '2'])
    const refused = 'tls.acme: no certificate for site.example'
    for (let leaders = 1; leaders <= 3; leaders++) {
      await until(() => splitLines(proxy, refused) === leaders && listChildProcesses(proxy).length === 2)
      t.equal(splitLines(proxy, refused), leaders)
      t.ok(orders.length >= leaders)
      const [leader] = listChildProcesses(proxy)
      if (leaders < 3) process.kill(leader as number, 'SIGKILL')
    }
    t.equal(await proxy.stop('SIGINT'), 0)
    t.equal(splitLines(proxy, refused), 3)
  })
})
