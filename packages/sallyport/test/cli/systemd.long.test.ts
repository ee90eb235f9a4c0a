import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { serve, until, visit, workspace } from './command.ts'

const missing = ['systemd-notify', 'python3'].filter((name) => spawnSync(name, ['--version']).error !== undefined)
const skip = missing.length > 0 && `no ${missing.join(', no ')}`

/** Node has no datagram sockets of files: Python prints a line for each message. */
const RECEIVER = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print('bound', flush=True)
while True:
    print(receiver.recv(4096).decode().strip().replace('\\n', ' '), flush=True)
`

async function receive(t: Test, socket: string) {
  const child: ChildProcess = spawn('python3', ['-c', RECEIVER, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout?.on('data', (chunk) => {
    text += chunk
  })
  const lines = () => text.split('\n').filter((line) => line !== '' && line !== 'bound' && line !== 'BARRIER=1')
  await until(() => text.includes('bound'))
  return { lines, hasCome: (count: number) => until(() => lines().length === count) }
}

for (const workers of [[], ['--workers', '2']]) {
  const name = workers.length === 0 ? 'one process' : 'workers: the first reports for all'
  t.test(`systemd learns of start, reload and end: ${name}`, { skip }, async (t) => {
    const { config, folder } = workspace(t, ['mode: monitor'])
    const socket = join(folder, 'notify')
    const { lines, hasCome } = await receive(t, socket)
    const proxy = await serve(t, config, workers, 'Console at', { NOTIFY_SOCKET: socket })
    await hasCome(1)
    proxy.child.kill('SIGHUP')
    await hasCome(3)
    writeFileSync(config, 'mode: loud\n')
    proxy.child.kill('SIGHUP')
    await hasCome(5)
    t.equal(await proxy.stop(), 0)
    await hasCome(6)
    const url = 'http:\\S+:\\d+'
    const expected = [
      `^READY=1 STATUS=Listening on ${url}$`,
      '^RELOADING=1 MONOTONIC_USEC=\\d+ STATUS=Reloading the configuration$',
      `^READY=1 STATUS=Listening on ${url}; configuration reloaded: nothing has changed\\.$`,
      '^RELOADING=1 ',
      `^READY=1 STATUS=Listening on ${url}; reload rejected, configuration unchanged: \\S+:1: mode: "loud" is unknown`,
      '^STOPPING=1 STATUS=Finishing requests in flight$',
    ]
    for (const [index, pattern] of expected.entries()) t.match(lines()[index], new RegExp(pattern))
    t.notMatch(proxy.err(), /systemd cannot/)
  })
}

t.test('a line says that systemd cannot be reached, and the service serves', { skip }, async (t) => {
  const { config, folder } = workspace(t)
  const socket = { NOTIFY_SOCKET: join(folder, 'nobody') }
  const proxy = await serve(t, config, [], 'could not notify systemd', socket)
  t.equal((await visit(`${proxy.url}/v1/openapi.json`)).status, 200)
  t.match(proxy.err(), /sallyport: could not notify systemd that this service is ready: .*\n/)
})
