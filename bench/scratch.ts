import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from '@sallyport/engine/testing'

/** Gives a run a folder and what private servers need of a test; all of it is ended after. */
export async function scratch<T>(work: (folder: string, cleanup: Cleanup) => Promise<T>): Promise<T> {
  const steps: (() => unknown)[] = []
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  try {
    return await work(folder, { teardown: (step) => steps.unshift(step) })
  } finally {
    for (const step of steps) await step()
    await rm(folder, { recursive: true, force: true })
  }
}
