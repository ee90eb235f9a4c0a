import { numberFlag } from '../flags.ts'
import type { Run } from '../report/run.ts'
import type { Load } from './load.ts'
import { familyOf, processorTime, resident } from './processes.ts'
import type { Program } from './program.ts'
import { pathOf, type Size } from './servers.ts'

/** Cost of one proxy in one round. */
export interface Taken {
  /** Microseconds of processor time of all its processes for a request. */
  readonly cpu: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Megabytes of its largest process after the shot. */
  readonly megabytes: number
  readonly errors: number
}

/** One shot at a proxy, and what all its processes took meanwhile. */
export async function shoot(
  load: Load,
  { pid, url }: Program,
  size: Size,
  seconds: number,
  connections?: number,
): Promise<Taken> {
  const family = familyOf(pid)
  const before = processorTime(family)
  const { requests, seconds: took, p50, p99, errors } = await load.shoot(url, pathOf(size), seconds, connections)
  const cpu = ((processorTime(family) - before) * 1e6) / requests
  const megabytes = Math.max(...family.map(resident))
  return { cpu, perSecond: requests / took, p50, p99, megabytes, errors }
}

/** How many shots and how long each: `--rounds=N --seconds=N`. */
export function roundsOf(run: Run) {
  return {
    rounds: numberFlag('rounds', run.pick(11, 1)),
    // Until then much of the processor time is that of the compiler.
    warmUp: run.pick(2, 0),
    seconds: numberFlag('seconds', run.pick(2, 1)),
  }
}
