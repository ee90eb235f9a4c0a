import type { NamedList, SourceStatus, Surroundings } from '@sallyport/core'
import type { Config } from './config/schema.ts'
import type { NoticeCode } from './hooks.ts'
import { openLists } from './lists/lists.ts'
import type { OnTurned } from './load/load-meter.ts'
import { type MeasuredLoad, measureLoad } from './load/measured-load.ts'
import type { Outbound } from './outbound.ts'
import { policyRobots } from './policy-robots.ts'

/** Parts of a service that its surroundings are made of. */
export interface SurroundingPorts {
  readonly outbound: Pick<Outbound, 'feeds'>
  readonly notice: (code: NoticeCode, message: string) => void
  readonly onFault: (error: unknown) => void
  readonly onLoadTurned: OnTurned
  /** Requests were recorded or made up: the load of now is not theirs. */
  readonly isTrial: boolean
}

/** The part of the world that the policies of a service read beside requests. */
export interface OpenSurroundings {
  /** Those of the configuration in force. */
  current(): Surroundings & { readonly lists: ReadonlyMap<string, NamedList> }
  /** Opens those of another configuration. Rejects with `invalid_config`, and then nothing has changed. */
  surround(config: Config): Promise<{ readonly surroundings: Surroundings; take(): void }>
  readonly load: MeasuredLoad
  /** Rows of lists among the data sets. */
  readonly sources: readonly SourceStatus[]
  close(): Promise<void>
}

export async function openSurroundings(
  config: Config,
  { outbound, notice, onFault, onLoadTurned, isTrial }: SurroundingPorts,
): Promise<OpenSurroundings> {
  const lists = await openLists(config.lists, {
    dataDir: config.dataDir,
    readOnly: config.data.readOnly,
    outbound: config.net.outbound ? outbound.feeds : undefined,
    notice: (message) => notice('SALLYPORT_LIST', message),
    onFault,
  })
  let inForce = { config, robots: policyRobots(config) }
  const load = measureLoad({
    eventLoopDelay: () => inForce.config.limits.eventLoopDelay,
    onTurned: onLoadTurned,
  })
  // Policies of mounts are not compiled again: they ask what is in force then.
  const robots = (userAgent: string, target: string) => inForce.robots(userAgent, target)
  const read = { robots, ...(!isTrial && { load }) }
  return {
    load,
    current: () => ({ ...read, lists: lists.byName }),
    async surround(next) {
      const { byName, take } = await lists.prepare(next.lists)
      return {
        surroundings: { ...read, lists: byName },
        take() {
          take()
          inForce = { config: next, robots: policyRobots(next) }
        },
      }
    },
    get sources() {
      return lists.status
    },
    async close() {
      load.close()
      await lists.close()
    },
  }
}
