import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from '../../src/stores/testing/index.ts'

export async function temporaryFolder(t: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-stores-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Closes a store with its test, and returns it. */
export function closeAfter<Store extends { close(): unknown }>(t: Cleanup, store: Store): Store {
  t.teardown(() => store.close())
  return store
}

/** Starts `child.ts` in a process of its own, killed at the end of the test if it still runs. */
export function startChild(t: Cleanup, ...args: readonly string[]): ChildProcess {
  const child = fork(join(import.meta.dirname, 'child.js'), args)
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

/** The next message of a child; rejects when it ends without one. */
export function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The child ended without a message.'))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message)
    })
  })
}

export function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}
