import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { browserFields } from '../browser.ts'
import type { Run } from '../report/run.ts'
import { scratch } from '../scratch.ts'
import { visitorAddresses } from '../visitors.ts'
import { openLoad, type Shoot, VISITORS } from './load.ts'
import { isInstalled, type Program } from './program.ts'
import { compileData, type Options, type Sallyport, startSallyport } from './sallyport.ts'
import { startOrigin } from './servers.ts'

/** The proxies stay on the first processor; the origin and the load share the second. */
export const PROXY = 0
export const OTHERS = 1

/** The origin that proxies are compared in front of. */
export interface Stand {
  readonly folder: string
  readonly dataDir: string
  readonly origin: Program
  readonly shoot: Shoot
}

/** Sets up a stand for a bench; says why not where a command is missing. */
export async function onStand(run: Run, work: (stand: Stand) => Promise<void>): Promise<void> {
  const missing = ['taskset', 'nginx', 'wrk'].filter((command) => !isInstalled(command))
  if (missing.length > 0) return run.skip(`it needs ${missing.join(', ')}`)
  await scratch(async (folder, { teardown }) => {
    // A quick run takes the data that other benches have compiled, or the first proxy compiles them as it starts.
    const dataDir = run.pick(join(folder, 'data'), '.sallyport')
    await mkdir(dataDir, { recursive: true })
    if (!run.quick) {
      run.step('compiles all data')
      await compileData(dataDir)
    }
    const origin = await startOrigin(folder, OTHERS)
    teardown(() => origin.stop())
    const visitors = visitorAddresses(VISITORS).map((address) => browserFields(address))
    await work({ folder, dataDir, origin, shoot: await openLoad(folder, OTHERS, visitors) })
  })
}

/** Starts Sallyport with everything on in front of the origin, and with more options where a bench gives them. */
export function startOnStand(stand: Stand, name: string, more: Partial<Options> = {}): Promise<Sallyport> {
  const { folder, dataDir, origin } = stand
  return startSallyport({ folder: join(folder, name), dataDir, upstream: origin.url, processor: PROXY, ...more })
}
