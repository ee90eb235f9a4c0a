import type { NamedList, SourceStatus, Surroundings } from '@sallyport/core'
import type { Config } from '#config'
import { openLists } from '#features/lists'
import { openRobots, type RobotsSource } from '#features/robots'
import { measureLoad, type OnTurned } from '#service'
import type { Base } from './base.ts'
import { writeConfigRobots } from './robots.ts'

/** Parts of a service that provide its surroundings. The present load does not apply to requests of a trial. */
interface SurroundingPorts extends Pick<Base, 'outbound' | 'notice' | 'onFault' | 'isTrial'> {
  readonly onLoadTurned: OnTurned
}

/** Opens what policies of a service read besides requests. */
export type OpenSurroundings = Awaited<ReturnType<typeof openSurroundings>>

export async function openSurroundings(
  config: Config,
  { outbound, notice, onFault, onLoadTurned, isTrial }: SurroundingPorts,
) {
  let source: RobotsSource | undefined
  const prepareRobots = async (of: Config) => ({
    config: of,
    robots: await openRobots(of, {
      writePolicyRobots: () => writeConfigRobots(of).text,
      source: () => source,
      notice: (line) => notice('SALLYPORT_ROBOTS', line),
      isTrial,
    }),
  })
  let inForce = await prepareRobots(config)
  const lists = await openLists(config.lists, {
    dataDir: config.dataDir,
    readOnly: config.data.readOnly,
    outbound: config.net.outbound ? outbound.feeds : undefined,
    notice: (message) => notice('SALLYPORT_LIST', message),
    onFault,
  })
  const load = measureLoad(() => inForce.config.limits.eventLoopDelay, onLoadTurned)
  // Policies of mounts are not compiled again, so they read what is in force at the time.
  const robots = (userAgent: string, target: string, host: string) => inForce.robots.refuses(userAgent, target, host)
  const read = { robots, ...(!isTrial && { load }) }
  return {
    load,
    siteRobots: {
      read(next: RobotsSource): void {
        source = next
      },
    },
    /** Returns the robots.txt that a host publishes; `undefined` if none was read. */
    robotsText: (host: string): string | undefined => inForce.robots.text(host),
    /** Returns the surroundings of the configuration in force. */
    current: (): Surroundings & { readonly lists: ReadonlyMap<string, NamedList> } => ({
      ...read,
      lists: lists.byName,
    }),
    /** Opens the surroundings of another configuration. Rejects with `invalid_config`, and then nothing has changed. */
    async surround(next: Config): Promise<{ readonly surroundings: Surroundings; take(): void }> {
      const robots = await prepareRobots(next)
      const { byName, take } = await lists.prepare(next.lists)
      return {
        surroundings: { ...read, lists: byName },
        take() {
          take()
          inForce = robots
        },
      }
    },
    /** Lists the data sets of lists, and of the robots.txt of sites. */
    get sources(): readonly SourceStatus[] {
      return [...lists.status, ...inForce.robots.status]
    },
    async close(): Promise<void> {
      load.close()
      await lists.close()
    },
  }
}
