import type { Cleanup } from '@sallyport/engine/testing'
import { type Raised, type Sallyport, startSallyport } from '../../proxy/sallyport.ts'
import { scratch } from '../scratch.ts'
import { startChild } from './child.ts'

/** An origin and the proxy before it, each in a process of its own. */
export interface Scene {
  readonly proxy: Sallyport
  readonly cleanup: Cleanup
}

/** Folder of the data that all scenes of a run share. */
export interface Place {
  readonly folder: string
  readonly dataDir: string
}

/** Changes for a run: the program of the origin, keys of the configuration, options of Node. */
interface Changes {
  readonly origin?: string | undefined
  readonly raised?: Raised | undefined
  readonly node?: readonly string[] | undefined
}

/** A fresh proxy for one run, which trusts nobody, before the origin of that program; both are ended after. */
export async function withScene<T>(
  { folder, dataDir }: Place,
  { origin: program = 'origin.js', raised = {}, node = [] }: Changes,
  work: (scene: Scene) => Promise<T>,
): Promise<T> {
  return scratch(async (_, cleanup) => {
    const origin = await startChild<number>(program)
    cleanup.teardown(() => origin.stop())
    const upstream = `http://127.0.0.1:${origin.ready}`
    const proxy = await startSallyport({ folder, dataDir, upstream, raised, node })
    cleanup.teardown(() => proxy.stop())
    return work({ proxy, cleanup })
  })
}
