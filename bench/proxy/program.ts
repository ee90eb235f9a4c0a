import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A bench started the server in a process of its own. */
export interface Program {
  readonly pid: number
  readonly url: string
  /** Returns the program's messages to the operator. */
  readonly said: () => string
  readonly running: () => boolean
  stop(): Promise<void>
}

export interface Start {
  readonly command: string
  readonly args: readonly string[]
  readonly port: number
  /** The program has this working folder; absent: the folder of the bench. */
  readonly folder?: string | undefined
  /** The program stays on this processor; absent: on any. */
  readonly processor?: number | undefined
  /** Rejects until it serves; absent: until it takes connections. */
  readonly ready?: (() => Promise<unknown>) | undefined
}

const READY_MS = 60_000
const MAX_SAID = 100_000

/** Starts a program and waits until it serves. */
export async function startProgram({ command, args, port, folder, processor, ready }: Start): Promise<Program> {
  const [run, ...before] = processor === undefined ? [command] : ['taskset', '--cpu-list', String(processor), command]
  const child = spawn(run as string, [...before, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  // The program also ends where the bench itself fails.
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString()).slice(-MAX_SAID)
  })
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const until = performance.now() + READY_MS
  for (let serves = false; !serves; ) {
    if (!isRunning() || performance.now() > until) {
      child.kill('SIGKILL')
      throw new Error(`${command} ${args.join(' ')} does not serve: ${said}`)
    }
    serves = await (ready?.() ?? dial(port)).then(
      () => true,
      () => false,
    )
    if (!serves) await delay(50)
  }
  return {
    pid: child.pid as number,
    url: `http://127.0.0.1:${port}`,
    said: () => said,
    running: isRunning,
    async stop() {
      if (!isRunning()) return
      const ended = once(child, 'exit')
      child.kill()
      const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await ended
      clearTimeout(late)
    },
  }
}

export function isInstalled(command: string): boolean {
  return spawnSync('which', [command]).status === 0
}

async function dial(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
}
