import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A program of this folder in a process of its own. It sends one message when it is ready, and one for each that it gets. */
export interface Child<Ready, Told = unknown> {
  readonly ready: Ready
  ask(question?: string): Promise<Told>
  stop(): Promise<void>
}

export async function startChild<Ready, Told = unknown>(
  program: string,
  ...args: readonly (string | number)[]
): Promise<Child<Ready, Told>> {
  const child = fork(join(import.meta.dirname, program), args.map(String))
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  const ready = (await messageOf(child)) as Ready
  return {
    ready,
    async ask(question = '') {
      const told = messageOf(child)
      child.send(question)
      return (await told) as Told
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('a program of this run ended')
  })
  return (await Promise.race([once(child, 'message'), ended]))[0]
}
