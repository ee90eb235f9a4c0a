import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { start, workspace } from './command.ts'

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
  async function until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await until(() => text.includes('bound'))
  return { lines, until }
}

for (const workers of [[], ['--workers', '2']]) {
  const name = workers.length === 0 ? 'one process' : 'workers: the first reports for all'
  t.test(`systemd learns of start, reload and end: ${name}`, { skip }, async (t) => {
    const { config, folder } = workspace(t, ['mode: monitor'])
    const socket = join(folder, 'notify')
    const { lines, until } = await receive(t, socket)
    const listening = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
    const proxy = start(t, ['proxy', '--config', config, ...listening, ...workers], { NOTIFY_SOCKET: socket })
    await until(() => lines().length === 1)
    proxy.child.kill('SIGHUP')
    await until(() => lines().length === 3)
    writeFileSync(config, 'mode: loud\n')
    proxy.child.kill('SIGHUP')
    await until(() => lines().length === 5)
    proxy.child.kill('SIGTERM')
    t.equal(await proxy.ended, 0)
    await until(() => lines().length === 6)
    const url = 'http:\\S+:\\d+'
    const expected = [
      `^READY=1 STATUS=Listening on ${url}$`,
      '^RELOADING=1 MONOTONIC_USEC=\\d+ STATUS=Reloading the configuration$',
      `^READY=1 STATUS=Listening on ${url}; configuration reloaded: nothing has changed\\.$`,
      '^RELOADING=1 ',
      `^READY=1 STATUS=Listening on ${url}; reload rejected, configuration unchanged: \\S+:1: mode: "loud" is unknown`,
      '^STOPPING=1 STATUS=Finishing requests in flight$',
    ]
    t.equal(lines().length, expected.length)
    for (const [index, pattern] of expected.entries()) t.match(lines()[index], new RegExp(pattern))
    t.notMatch(proxy.err(), /systemd cannot/)
  })
}

t.test('a line says that systemd cannot be reached, and the service serves', { skip }, async (t) => {
  const { config, folder } = workspace(t)
  const listening = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const proxy = start(t, ['proxy', '--config', config, ...listening], { NOTIFY_SOCKET: join(folder, 'nobody') })
  await proxy.says('could not notify systemd')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  t.equal((await fetch(`${url}/v1/openapi.json`)).status, 200)
  t.match(proxy.err(), /sallyport: could not notify systemd that this service is ready: .*\n/)
})
