import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The part of tap's test that is used here. */
export interface Cleanup {
  teardown(step: () => unknown): unknown
}

/** A private server of a test's own, on a free port of loopback, with its files in a folder of its own. */
export interface TestServer {
  readonly port: number
  /** Ends it gracefully: open connections are closed, new ones refused. */
  stop(): Promise<void>
  /** kill -9. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay open, new ones are accepted by the kernel, nothing is ever answered. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
  /** Starts it again on the same port with the same files, after `stop` or `kill`. */
  restart(): Promise<void>
}

export interface ServerCommand {
  readonly file: string
  readonly args: readonly string[]
  /** User to run as, where this process may not run the server as itself. */
  readonly user?: ServerUser | undefined
  /** The signal that ends the server gracefully. */
  readonly stopSignal: NodeJS.Signals
  /** Reports whether the server answers. */
  ready(): Promise<boolean>
}

export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

const READY_MS = 30_000

/** Starts a server and waits until it is ready; it is ended with the test. */
export async function startServer(t: Cleanup, port: number, command: ServerCommand): Promise<TestServer> {
  let child = await launch(command)
  const signalAll = (signal: NodeJS.Signals): void => {
    for (const pid of listFamily(child)) signalOne(pid, signal)
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (hasEnded(child)) return
    const exit = once(child, 'exit')
    signalAll('SIGCONT')
    if (signal === 'SIGKILL') signalAll(signal)
    else child.kill(signal)
    await exit
  }
  t.teardown(() => end('SIGKILL'))
  return {
    port,
    stop: () => end(command.stopSignal),
    kill: () => end('SIGKILL'),
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async restart() {
      child = await launch(command).catch(async (error: unknown) => {
        // The children of a PostgreSQL that was killed let go of its shared memory a moment later.
        if (!/still in use/.test(String(error))) throw error
        await delay(1_000)
        return launch(command)
      })
    },
  }
}

async function launch({ file, args, user, ready }: ServerCommand): Promise<ChildProcess> {
  const child = spawn(file, args, { ...user, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (output = `${output}${text}`.slice(-2_000)))
  const deadline = performance.now() + READY_MS
  while (!(await ready())) {
    if (hasEnded(child) || performance.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`${file} did not start: ${output}`)
    }
    await delay(20)
  }
  return child
}

/** Lists the process and its children: PostgreSQL gives each of them a process group of its own. */
function listFamily({ pid }: ChildProcess): readonly number[] {
  if (pid === undefined) return []
  const list = `/proc/${pid}/task/${pid}/children`
  const children = existsSync(list) ? readFileSync(list, 'utf8').split(' ').filter(Boolean).map(Number) : []
  return [pid, ...children]
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Ports below those that systems give to connections, and to servers that ask for any: no other test receives one meanwhile. */
const GIVEN_TO_NOBODY = { first: 11_000, end: 32_000 } as const

/** Finds a port of loopback that nothing listens on, nor will unless a test requests it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(GIVEN_TO_NOBODY.first, GIVEN_TO_NOBODY.end)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await once(server.close(), 'close')
    return port
  }
}

/** Returns the port of loopback on which a server of this process listens until the test ends. */
export async function listening(t: Cleanup, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void (server.close() as Partial<HttpServer>).closeAllConnections?.())
  return (server.address() as AddressInfo).port
}

/** Makes a folder for a server, removed with the test; owned by `user` where one is given. */
export async function serverFolder(t: Cleanup, user?: ServerUser): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-server-'))
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Says why tests with servers and browsers of others do not run: `npm test` sets TEST_NEIGHBOURS. */
export const NO_NEIGHBOURS: string | false = process.env['TEST_NEIGHBOURS'] === 'off' && 'npm run test:all runs it'

/** Finds the first of these that exists: a path, or a name to look for in PATH. */
export function findProgram(candidates: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = candidates.flatMap((name) => (name.includes('/') ? name : folders.map((folder) => join(folder, name))))
  return paths.find((path) => existsSync(path))
}

/** Sends a few bytes to the port, and resolves to the answer; `undefined` when there is none within a second. */
export function ask(port: number, question: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(question))
    const settle = (answer: string | undefined): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000).once('data', (data) => settle(data.toString('latin1')))
    for (const end of ['timeout', 'error', 'close']) socket.once(end, () => settle(undefined))
  })
}
