import { createServer } from 'node:http'
import { freePort, listening } from '@sallyport/engine/testing'
import t from 'tap'
import { ask, listChildProcesses, start, until, workspace } from './command.ts'

const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']

t.test('workers share what they listen on, are replaced when they die, and end with 0', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  // A port of their own, which those who come after have too.
  const listen = ['--listen', `127.0.0.1:${await freePort()}`, '--admin', '127.0.0.1:0']
  const proxy = start(t, ['proxy', '--config', config, ...listen, '--workers', '2'])
  await proxy.says('API key')
  await until(() => listChildProcesses(proxy).length === 2)
  t.equal(listChildProcesses(proxy).length, 2)
  t.equal(proxy.err().match(/Listening on/g)?.length, 1, 'one of them says what there is to say')

  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const key = /shown only once:\S* (sp_\w+)/.exec(proxy.err())?.[1] ?? ''
  const headers = { authorization: `Bearer ${key}` }
  const limits = async () => (await ask(`${url}/v1/user/limits`, headers)).json
  const attest = async () => {
    const body = '{"ip":"192.0.2.1","claimed_jurisdiction":"DE"}'
    return Number((await ask(`${url}/v1/provenance/check`, headers, body)).json['attestation_id'])
  }
  const remaining = async () => Number((await ask(`${url}/v1/myip`)).headers['x-ratelimit-remaining'])
  const seen = []
  for (let call = 0; call < 6; call++) seen.push(await remaining())
  t.same(seen, [59, 58, 57, 56, 55, 54])
  const ids = [await attest(), await attest()]
  t.match(await limits(), { usage: 2 })

  const admin = /Health at (http:\/\/[^/]+)/.exec(proxy.err())?.[1] ?? ''
  const counted = async () => {
    const text = await (await fetch(`${admin}/metrics`)).text()
    return Number(/sallyport_request_seconds_count\{answered_by="api",status="2xx"\} (\d+)/.exec(text)?.[1] ?? 0)
  }
  await until(async () => (await counted()) === 9)
  t.equal(await counted(), 9, 'workers are summed, whichever is asked')

  // The worker that answered until now is gone, so that what is counted on is not the memory of one.
  const killed = listChildProcesses(proxy)
  for (const pid of killed) process.kill(pid, 'SIGKILL')
  const replaced = () => killed.every((pid) => proxy.err().includes(`worker ${pid} ended (SIGKILL)`))
  await until(() => replaced() && listChildProcesses(proxy).length === 2)
  t.same(
    listChildProcesses(proxy).filter((pid) => killed.includes(pid)),
    [],
  )
  const answers = () =>
    limits().then(
      () => true,
      () => false,
    )
  await until(answers)
  t.equal(await remaining(), 53, 'one count')
  ids.push(await attest())
  t.ok(new Set(ids).size === 3 && Math.max(...ids) === ids[2], 'one ledger')
  t.match(await limits(), { usage: 3 }, 'one allowance')

  // Ctrl-C on a terminal goes to the primary and to every worker.
  for (const pid of listChildProcesses(proxy)) process.kill(pid, 'SIGINT')
  proxy.child.kill('SIGINT')
  t.equal(await proxy.ended, 0)
  t.match(
    proxy.err(),
    /^sallyport: worker \d+ ended \(SIGKILL\); starting another\.\n(?:sallyport: A request came .*\n)?Finishing requests in flight; .*\n$/m,
  )
})

t.test('a worker that is still starting reads the configuration again when it serves', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '2'])
  await proxy.says('API key')
  await until(() => listChildProcesses(proxy).length === 2)
  const [first, second] = listChildProcesses(proxy)
  process.kill(second as number, 'SIGKILL')
  const started = () => listChildProcesses(proxy).filter((pid) => pid !== first && pid !== second)
  await until(() => started().length === 1)
  const [third] = started()
  process.kill(proxy.child.pid as number, 'SIGHUP')
  await proxy.says('configuration reloaded')
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  t.same(started(), [third], 'it is the same one')
  t.notMatch(proxy.err(), /ended \(SIGHUP\)/)
})

t.test('workers that cannot start are one line and the exit code of a single process', async (t) => {
  const taken = createServer()
  const address = `127.0.0.1:${await listening(t, taken)}`
  const { config } = workspace(t, ['demo: true'])
  const proxy = start(t, ['proxy', '--config', config, '--listen', address, '--workers', '2'])
  t.equal(await proxy.ended, 1)
  t.match(
    proxy.err(),
    `sallyport: cannot listen on ${address}: another program already listens there. Stop the program, or use another address\n`,
  )
  t.notMatch(proxy.err(), 'starting another')
})

t.test('the end of the primary is the end of its workers', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '1'])
  await proxy.says('API key')
  await until(() => listChildProcesses(proxy).length === 1)
  const workers = listChildProcesses(proxy)
  proxy.child.kill('SIGKILL')
  await proxy.ended
  const alive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  await until(() => !workers.some(alive))
  t.same(workers.filter(alive), [])
})
