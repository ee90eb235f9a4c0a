import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import {
  errorCode,
  KeptRobots,
  MAX_ROBOTS_BYTES,
  parseRobots,
  robotsText,
  SallyportError,
  type SourceStatus,
} from '@sallyport/core'
import { readFault } from '#files'
import type { FeatureConfig } from '#service'
import type { Settings } from '#settings'
import type { keys } from './keys.ts'

/** The robots.txt of sites, as their origins have them. */
export interface RobotsSource {
  /** Whether that of a host refuses a target to who calls itself so; `undefined` while it was never read. */
  refuses(userAgent: string, target: string, host: string): boolean | undefined
  readonly status: readonly SourceStatus[]
}

/** The robots.txt that visitors get where it is not made from the policy. */
export interface SiteRobots {
  /** Has it read from here: the proxy hands over its origins. */
  read(source: RobotsSource): void
}

/** The robots.txt of one configuration: that of the policy, and its file. */
export interface ConfiguredRobots {
  refuses(userAgent: string, target: string, host: string): boolean | undefined
  readonly status: readonly SourceStatus[]
}

export interface RobotsParts {
  /** Makes the robots.txt of the policy. */
  readonly textOfPolicy: () => string
  /** Sites of the proxy; absent: there are none. */
  readonly source: () => RobotsSource | undefined
  readonly notice: (message: string) => void
  /** Requests were recorded or made up: no proxy is asked. */
  readonly isTrial: boolean
}

/** The settings of robots.txt, and where the proxy has origins. */
type RobotsSettings = FeatureConfig<typeof keys> & Pick<Settings, 'upstream' | 'routes'>

/** A file may have been edited; to read it costs little. */
const FILE_MS = 60_000

/**
 * Reads the robots.txt of a policy (rules that rest on robots.txt are none that it can say, so none of them is in it), and beside it the
 * one that the site has. Rejects with `invalid_config` for a file that cannot be read.
 */
export async function openRobots(
  config: RobotsSettings,
  { textOfPolicy, source, notice, isTrial }: RobotsParts,
): Promise<ConfiguredRobots> {
  const { serve, file } = config.robots
  const isOpen = isTrial && asksOrigins(config)
  const kept = file === undefined ? undefined : await openRobotsFile(file, notice)
  // It takes a tenth of a second, which no visitor of a service waits for; one that is asked about recorded requests may need none.
  let ofPolicy = isTrial ? undefined : parseRobots(textOfPolicy())
  return {
    refuses(userAgent, target, host) {
      ofPolicy ??= parseRobots(textOfPolicy())
      if (ofPolicy.refuses(userAgent, target)) return true
      if (kept !== undefined) return kept.refuses(userAgent, target)
      // Visitors are shown no other.
      if (serve) return false
      const sites = source()
      if (sites !== undefined) return sites.refuses(userAgent, target, host)
      return isOpen ? undefined : false
    },
    get status() {
      if (kept !== undefined) return [kept.status]
      return serve ? [] : (source()?.status ?? [])
    },
  }
}

/** Whether rules by robots.txt need that of an origin, which a running proxy alone asks. */
function asksOrigins({ robots: { serve, file }, upstream, routes }: RobotsSettings): boolean {
  return (
    !serve && file === undefined && (upstream !== undefined || routes.some(({ upstreams }) => upstreams !== undefined))
  )
}

/** Reads the robots.txt of a site. Rejects with `invalid_config`. */
export async function openRobotsFile(
  file: string,
  onTurned: (message: string) => void = () => {},
): Promise<KeptRobots> {
  const ask = async (): Promise<string> => {
    const fault = readFault(file)
    if (fault !== undefined) throw new Error(fault)
    try {
      // A longer one is read no further than it counts.
      return robotsText(await buffer(createReadStream(file, { end: MAX_ROBOTS_BYTES })))
    } catch (error) {
      const code = errorCode(error)
      throw new Error(code === 'ENOENT' ? 'is not there' : `cannot be read: ${code}`)
    }
  }
  const kept = new KeptRobots({ id: 'robots:file', title: file, every: FILE_MS, ask, now: Date.now, onTurned })
  await kept.read()
  if (kept.error !== undefined) throw new SallyportError('invalid_config', `robots.file: ${file} ${kept.error}`)
  return kept
}
