import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { freePort, listening } from '@sallyport/engine/testing'
import t from 'tap'
import { ask, LOOPBACK, listChildProcesses, serve, start, until, visit, workspace } from './command.ts'

t.test('workers share what they listen on, are replaced when they die, and end with 0', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  // A port of their own, which those who come after have too.
  const proxy = await serve(t, config, ['--listen', `127.0.0.1:${await freePort()}`, '--workers', '2'])
  const { url, key } = proxy
  await until(() => listChildProcesses(proxy).length === 2)
  t.equal(proxy.err().match(/Listening on/g)?.length, 1, 'one of them says what there is to say')

  const headers = { authorization: `Bearer ${key}` }
  const limits = async () => (await ask(`${url}/v1/user/limits`, headers)).json
  const attest = async () => {
    const body = '{"ip":"192.0.2.1","claimed_jurisdiction":"DE"}'
    return Number((await ask(`${url}/v1/provenance/check`, headers, body)).json['attestation_id'])
  }
  const remaining = async () => Number((await visit(`${url}/v1/myip`)).headers['x-ratelimit-remaining'])
  const seen = []
  for (let call = 0; call < 6; call++) seen.push(await remaining())
  t.same(seen, [59, 58, 57, 56, 55, 54])
  const ids = [await attest(), await attest()]
  t.match(await limits(), { usage: 2 })

  // The worker that answered until now is gone, so that what is counted on is not the memory of one.
  const killed = listChildProcesses(proxy)
  for (const pid of killed) process.kill(pid, 'SIGKILL')
  const replaced = () => killed.every((pid) => proxy.err().includes(`worker ${pid} ended (SIGKILL)`))
  await until(() => replaced() && listChildProcesses(proxy).length === 2)
  t.notOk(listChildProcesses(proxy).some((pid) => killed.includes(pid)))
  await until(() =>
    limits().then(
      () => true,
      () => false,
    ),
  )
  t.equal(await remaining(), 53, 'one count')
  ids.push(await attest())
  t.ok(new Set(ids).size === 3 && Math.max(...ids) === ids[2], 'one ledger')
  t.match(await limits(), { usage: 3 }, 'one allowance')

  // Ctrl-C on a terminal goes to the primary and to every worker.
  for (const pid of listChildProcesses(proxy)) process.kill(pid, 'SIGINT')
  t.equal(await proxy.stop('SIGINT'), 0)
  t.match(
    proxy.err(),
    /^sallyport: worker \d+ ended \(SIGKILL\); starting another\.\n(?:sallyport: A request came .*\n)?Finishing requests in flight; .*\n$/m,
  )
})

t.test('a worker that is still starting reads the configuration again when it serves', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  const proxy = await serve(t, config, ['--workers', '2'])
  await until(() => listChildProcesses(proxy).length === 2)
  const [first, second] = listChildProcesses(proxy)
  process.kill(second as number, 'SIGKILL')
  const started = () => listChildProcesses(proxy).filter((pid) => pid !== first && pid !== second)
  await until(() => started().length === 1)
  const [third] = started()
  proxy.child.kill('SIGHUP')
  await proxy.says('configuration reloaded')
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  t.same(started(), [third], 'it is the same one')
  t.notMatch(proxy.err(), /ended \(SIGHUP\)/)
})

t.test('workers that cannot start are one line and the exit code of a single process', async (t) => {
  const taken = createServer()
  const address = `127.0.0.1:${await listening(t, taken)}`
  const { config } = workspace(t, ['demo: true'])
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--listen', address, '--workers', '2'])
  t.equal(await proxy.ended, 1)
  const said = 'another program already listens there. Stop the program, or use another address\n'
  t.match(proxy.err(), `sallyport: cannot listen on ${address}: ${said}`)
  t.notMatch(proxy.err(), 'starting another')
})

t.test('the end of the primary is the end of its workers', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  const proxy = await serve(t, config, ['--workers', '1'])
  await until(() => listChildProcesses(proxy).length === 1)
  const workers = listChildProcesses(proxy)
  await proxy.stop('SIGKILL')
  await until(() => !workers.some((pid) => existsSync(`/proc/${pid}`)))
  t.pass('none is left')
})
