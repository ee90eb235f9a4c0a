import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A program of this folder in a process of its own, which sends one message when it is ready. */
export interface Child<Ready> {
  readonly ready: Ready
  stop(): Promise<void>
}

export async function startChild<Ready>(program: string): Promise<Child<Ready>> {
  const child = fork(join(import.meta.dirname, program))
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  const ended = once(child, 'exit').finally(() => process.off('exit', end))
  const failed = ended.then(() => Promise.reject(new Error(`${program} ended`)))
  failed.catch(() => {})
  const [ready] = (await Promise.race([once(child, 'message'), failed])) as [Ready]
  return {
    ready,
    async stop() {
      end()
      await ended
    },
  }
}
