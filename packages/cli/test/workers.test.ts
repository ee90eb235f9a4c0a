import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { type Started, start, workspace } from './command.ts'

const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']

function childrenOf({ child: { pid } }: Started): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!holds() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
}

t.test('workers share what they listen on, are replaced when they die, and end with 0', async (t) => {
  const { config } = workspace(t)
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '3'])
  await proxy.says('API key')
  await until(() => childrenOf(proxy).length === 3)
  t.equal(childrenOf(proxy).length, 3)
  t.equal(proxy.out().match(/Listening on/g)?.length, 1, 'one of them says what there is to say')

  const url = /Listening on (http:\/\/\S+),/.exec(proxy.out())?.[1] ?? ''
  const key = /shown this once:\S* (sp_\w+)/.exec(proxy.out())?.[1] ?? ''
  const limits = async () => {
    const response = await fetch(`${url}/v1/user/limits`, { headers: { authorization: `Bearer ${key}` } })
    return (await response.json()) as { usage: number }
  }
  const remaining = async () => Number((await fetch(`${url}/v1/myip`)).headers.get('x-ratelimit-remaining'))
  const seen = []
  for (let call = 0; call < 6; call++) seen.push(await remaining())
  t.same(seen, [59, 58, 57, 56, 55, 54], 'one count, whichever worker answers')
  t.match(await limits(), { usage: 0 })

  const [killed = 0] = childrenOf(proxy).slice(-1)
  process.kill(killed, 'SIGKILL')
  await until(() => proxy.err().includes(`worker ${killed} ended (SIGKILL)`) && childrenOf(proxy).length === 3)
  t.notOk(childrenOf(proxy).includes(killed))
  t.equal(await remaining(), 53)

  // Ctrl-C on a terminal goes to the primary and to every worker.
  for (const pid of childrenOf(proxy)) process.kill(pid, 'SIGINT')
  proxy.child.kill('SIGINT')
  t.equal(await proxy.ended, 0)
  t.match(
    proxy.err(),
    /^sallyport: worker \d+ ended \(SIGKILL\); starting another\.\nFinishing what is in flight; .*\n$/m,
  )
})

t.test('workers that cannot start are one line and the exit code of a single process', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`
  const { config } = workspace(t)
  const proxy = start(t, ['proxy', '--config', config, '--listen', address, '--workers', '2'])
  t.equal(await proxy.ended, 1)
  t.match(proxy.err(), `sallyport: cannot listen on ${address}: another program listens there already\n`)
  t.notMatch(proxy.err(), 'starting another')
})

t.test('the end of the primary is the end of its workers', async (t) => {
  const { config } = workspace(t)
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '2'])
  await proxy.says('API key')
  await until(() => childrenOf(proxy).length === 2)
  const workers = childrenOf(proxy)
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
