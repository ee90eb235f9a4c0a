import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ConfigInput, open } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { NO_DATA } from '../no-data.ts'
import { ROOT } from '../workspaces.ts'

/*
 * Bans in the sets of a real nftables, in a network namespace of their own, by the helper as it is shipped and with the table of the
 * examples: it runs as nobody with one capability. A packet of a banned address is dropped there.
 */
const HELPER = join(ROOT, 'packages/sallyport/bin/sallyport-nft.mjs')
const TABLE = join(ROOT, 'examples/nftables/sallyport.nft')

/** As `examples/nftables/sallyport-nft.service` runs it. */
const RIGHTS = ['--clear-groups', '--inh-caps=-all,+net_admin', '--ambient-caps=-all,+net_admin']
const AS_SERVICE = ['setpriv', '--reuid=nobody', '--regid=0', ...RIGHTS, process.execPath, HELPER]

const [program = '', ...args] = AS_SERVICE
const isPermitted =
  spawnSync('unshare', ['-n', 'nft', '-f', TABLE]).status === 0 && spawnSync(program, args).status === 2
const SKIP = isPermitted ? false : 'no network namespace with nftables is permitted here'

/** An element of a set, as nft lists it. */
interface Listed {
  readonly elem: {
    readonly val: string | { readonly prefix: { readonly addr: string; readonly len: number } }
    readonly expires: number
  }
}

/** A namespace that lives as long as the test. */
async function openNamespace(t: Test) {
  const child = spawn('unshare', ['-n', 'sh', '-c', 'ip link set lo up && echo up && exec sleep 600'])
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const inside = ['-t', String(child.pid), '-n']
  const run = (program: string, ...args: readonly string[]): string =>
    execFileSync('nsenter', [...inside, program, ...args], { encoding: 'utf8' })
  const load = () => run('nft', '-f', TABLE)
  /** The elements of a set with their seconds. */
  const elements = (set: string): ReadonlyMap<string, number> => {
    const listed = JSON.parse(run('nft', '-j', 'list', 'set', 'inet', 'sallyport', set))
    const rows: readonly Listed[] = listed.nftables[1].set.elem ?? []
    return new Map(
      rows.map(({ elem: { val, expires } }) => {
        return [typeof val === 'string' ? val : `${val.prefix.addr}/${val.prefix.len}`, expires]
      }),
    )
  }
  return { inside, run, load, elements }
}

type Namespace = Awaited<ReturnType<typeof openNamespace>>

function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-nft-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // The helper is nobody, and makes its socket here.
  chmodSync(folder, 0o777)
  return folder
}

async function startHelper(t: Test, { inside }: Namespace, socket: string) {
  const child = spawn('nsenter', [...inside, ...AS_SERVICE, '--socket', socket], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  while (!said.includes('Listening at') && child.exitCode === null) await delay(10)
  return {
    said: () => said,
    async stop(signal: NodeJS.Signals) {
      child.kill(signal)
      return child.exitCode ?? (await once(child, 'exit'))[0]
    },
  }
}

async function openGate(t: Test, socket: string, more: ConfigInput = {}, leads?: () => boolean) {
  const notices: string[] = []
  const dataDir = more.dataDir ?? t.testdir()
  const sallyport = await open(
    {
      dataDir,
      data: { refresh: false, sources: NO_DATA },
      log: { requests: 'off', file: join(dataDir, 'log') },
      bans: { export: { nftables: socket } },
      policy: {
        rules: [{ id: 'no', match: { path: ['/no'] }, action: 'block' }],
        strikes: { key: 'address', count: 1, window: '10m', on: ['blocked'], for: '1h' },
      },
      ...more,
    },
    { onNotice: (code, message) => code === 'SALLYPORT_BAN_EXPORT' && void notices.push(message), leads },
  )
  t.teardown(() => sallyport.close())
  const ban = async (peer: string): Promise<void> => {
    const request = { peer, method: 'GET', target: '/no', scheme: 'http', httpVersion: '1.1', fields: [] } as const
    const { ended } = await sallyport.count(sallyport.decide(request))
    ended?.(403)
  }
  return { sallyport, ban, notices }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20)
}

/** Whether a packet of an address comes to a server of the same namespace. */
function arrives({ run }: Namespace, from: string): boolean {
  const program = `
    import { createServer, connect } from 'node:net'
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1', () => {
      const client = connect({ port: server.address().port, host: '127.0.0.1', localAddress: '${from}' })
      client.on('connect', () => process.exit(0)).on('error', () => process.exit(1))
      setTimeout(() => process.exit(1), 700)
    })`
  try {
    run(process.execPath, '--input-type=module', '-e', program)
    return true
  } catch {
    return false
  }
}

t.test('a ban is in the set until it is lifted, and its packets are dropped', { skip: SKIP }, async (t) => {
  const socket = join(makeFolder(t), 'socket')
  const namespace = await openNamespace(t)
  namespace.load()
  for (const address of ['8.4.0.1', '8.4.0.2']) namespace.run('ip', 'addr', 'add', `${address}/32`, 'dev', 'lo')
  await startHelper(t, namespace, socket)
  const { ban, sallyport, notices } = await openGate(t, socket)
  t.ok(arrives(namespace, '8.4.0.1'))
  await ban('8.4.0.1')
  await ban('2001:4860::7')
  await until(() => namespace.elements('bans4').has('8.4.0.1') && namespace.elements('bans6').has('2001:4860::/64'))
  const seconds = namespace.elements('bans4').get('8.4.0.1') ?? 0
  t.ok(seconds > 500 && seconds <= 600, `it is on a lease: ${seconds}`)
  t.notOk(arrives(namespace, '8.4.0.1'), 'the packets of a banned address are dropped')
  t.ok(arrives(namespace, '8.4.0.2'))
  for (const { id } of await sallyport.bans.list()) await sallyport.bans.lift(id)
  await until(() => namespace.elements('bans4').size + namespace.elements('bans6').size === 0)
  t.ok(arrives(namespace, '8.4.0.1'))
  t.same(notices, [])
})

t.test('either side may be away, and so may the table: what holds is there again', { skip: SKIP }, async (t) => {
  const socket = join(makeFolder(t), 'socket')
  const namespace = await openNamespace(t)
  const early = await startHelper(t, namespace, socket)
  t.match(early.said(), /nft ended with 1/, 'without its table it ends')
  const { ban, notices, sallyport } = await openGate(t, socket)
  await ban('8.4.0.1')
  await until(() => notices.length === 1)
  t.match(notices, [/^bans\.export\.nftables: bans hold here alone: no helper listens at /])
  t.equal((await sallyport.bans.list()).length, 1)

  namespace.load()
  const first = await startHelper(t, namespace, socket)
  await until(() => namespace.elements('bans4').has('8.4.0.1'))
  await until(() => notices.length === 2)
  t.match(notices[1], /reached again/)
  await first.stop('SIGKILL')
  const second = await startHelper(t, namespace, socket)
  await ban('8.4.0.2')
  await until(() => namespace.elements('bans4').has('8.4.0.2'))

  namespace.run('nft', 'flush', 'ruleset')
  await ban('8.4.0.3')
  await until(() => notices.length === 3)
  t.match(notices[2], /nft could not do it/)
  t.match(second.said(), /sallyport-nft: nft ended with 1: .*No such file or directory/)
  namespace.load()
  await until(() => namespace.elements('bans4').size === 3)
  await until(() => second.said().includes('nft takes changes again'))
  t.equal(await second.stop('SIGTERM'), 0)
})

t.test('of two processes of one dataDir the one that leads keeps the set', { skip: SKIP }, async (t) => {
  const socket = join(makeFolder(t), 'socket')
  const namespace = await openNamespace(t)
  namespace.load()
  await startHelper(t, namespace, socket)
  const state = { leader: 0 }
  const dataDir = t.testdir()
  const [one, other] = [
    await openGate(t, socket, { dataDir }, () => state.leader === 0),
    await openGate(t, socket, { dataDir }, () => state.leader === 1),
  ]
  await other.ban('8.4.0.1')
  await until(() => namespace.elements('bans4').has('8.4.0.1'))
  await one.sallyport.close()
  for (const { id } of await other.sallyport.bans.list()) await other.sallyport.bans.lift(id)
  await other.ban('8.4.0.2')
  t.notOk(namespace.elements('bans4').has('8.4.0.2'))
  state.leader = 1
  await until(() => namespace.elements('bans4').has('8.4.0.2'))
  t.same([...one.notices, ...other.notices], [])
})

t.test('a mode that enforces nothing takes bans back, and a restart brings them again', { skip: SKIP }, async (t) => {
  const socket = join(makeFolder(t), 'socket')
  const namespace = await openNamespace(t)
  namespace.load()
  await startHelper(t, namespace, socket)
  const { ban, sallyport } = await openGate(t, socket)
  await ban('8.4.0.1')
  await until(() => namespace.elements('bans4').has('8.4.0.1'))
  await sallyport.reload({ ...sallyport.config, mode: 'monitor' })
  await until(() => namespace.elements('bans4').size === 0)
  await sallyport.reload({ ...sallyport.config, mode: 'enforce' })
  await until(() => namespace.elements('bans4').has('8.4.0.1'))
  await sallyport.close()
  // Another process of the same dataDir, as after a restart.
  namespace.run('nft', 'flush', 'set', 'inet', 'sallyport', 'bans4')
  const after = await open({ ...sallyport.config })
  t.teardown(() => after.close())
  await until(() => namespace.elements('bans4').has('8.4.0.1'))
})
