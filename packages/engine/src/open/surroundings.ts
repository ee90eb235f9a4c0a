import type { NamedList, SourceStatus, Surroundings } from '@sallyport/core'
import type { Config } from '#config'
import { openLists } from '#features/lists'
import { openRobots, type RobotsSource, type SiteRobots } from '#features/robots'
import type { NoticeCode, OnTurned, Outbound } from '#service'
import { type MeasuredLoad, measureLoad } from '#service'
import { robotsOfConfig } from './robots.ts'

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
  readonly siteRobots: SiteRobots
  /** Rows of lists, and of the robots.txt of sites, among the data sets. */
  readonly sources: readonly SourceStatus[]
  close(): Promise<void>
}

export async function openSurroundings(
  config: Config,
  { outbound, notice, onFault, onLoadTurned, isTrial }: SurroundingPorts,
): Promise<OpenSurroundings> {
  let source: RobotsSource | undefined
  const robotsOf = async (of: Config) => ({
    config: of,
    robots: await openRobots(of, {
      textOfPolicy: () => robotsOfConfig(of).text,
      source: () => source,
      notice: (line) => notice('SALLYPORT_ROBOTS', line),
      isTrial,
    }),
  })
  let inForce = await robotsOf(config)
  const lists = await openLists(config.lists, {
    dataDir: config.dataDir,
    readOnly: config.data.readOnly,
    outbound: config.net.outbound ? outbound.feeds : undefined,
    notice: (message) => notice('SALLYPORT_LIST', message),
    onFault,
  })
  const load = measureLoad({
    eventLoopDelay: () => inForce.config.limits.eventLoopDelay,
    onTurned: onLoadTurned,
  })
  // Policies of mounts are not compiled again: they ask what is in force then.
  const robots = (userAgent: string, target: string, host: string) => inForce.robots.refuses(userAgent, target, host)
  const read = { robots, ...(!isTrial && { load }) }
  return {
    load,
    siteRobots: {
      read(next) {
        source = next
      },
    },
    current: () => ({ ...read, lists: lists.byName }),
    async surround(next) {
      const robots = await robotsOf(next)
      const { byName, take } = await lists.prepare(next.lists)
      return {
        surroundings: { ...read, lists: byName },
        take() {
          take()
          inForce = robots
        },
      }
    },
    get sources() {
      return [...lists.status, ...inForce.robots.status]
    },
    async close() {
      load.close()
      await lists.close()
    },
  }
}
