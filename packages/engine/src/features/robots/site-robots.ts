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

/** Holds the robots.txt of sites. */
export interface RobotsSource {
  /** Reports whether a host's robots.txt refuses a target to this user agent; `undefined` until it was read. */
  refuses(userAgent: string, target: string, host: string): boolean | undefined
  /** Returns the text that a host publishes; `undefined` until it was read. */
  text(host: string): string | undefined
  readonly status: readonly SourceStatus[]
}

/** Holds the robots.txt that visitors receive if it is not made from the policy. */
export interface SiteRobots {
  /** Sets the source: the proxy provides its origins. */
  read(source: RobotsSource): void
}

export interface RobotsParts {
  /** Makes the robots.txt of the policy. */
  readonly writePolicyRobots: () => string
  /** Returns the sites of the proxy; `undefined` if there are none. */
  readonly source: () => RobotsSource | undefined
  readonly notice: (message: string) => void
  /** True if requests were recorded or invented: no proxy is asked. */
  readonly isTrial: boolean
}

type RobotsSettings = FeatureConfig<typeof keys> & Pick<Settings, 'upstream' | 'routes'>

/** The file may have been edited, and reading it costs little. */
const FILE_MS = 60_000

/**
 * Reads the robots.txt of a policy (which cannot express rules that depend on robots.txt, so it contains none of them), and beside it the
 * robots.txt of the site. Rejects with `invalid_config` for a file that cannot be read.
 */
export async function openRobots(
  config: RobotsSettings,
  { writePolicyRobots, source, notice, isTrial }: RobotsParts,
): Promise<RobotsSource> {
  const { serve, file } = config.robots
  const isOpen = isTrial && asksOrigins(config)
  const kept = file === undefined ? undefined : await openRobotsFile(file, notice)
  // This takes a tenth of a second, before visitors arrive; a trial on recorded requests may not need it.
  const own = isTrial ? undefined : writePolicyRobots()
  let ofPolicy = own === undefined ? undefined : parseRobots(own)
  return {
    refuses(userAgent, target, host) {
      ofPolicy ??= parseRobots(writePolicyRobots())
      if (ofPolicy.refuses(userAgent, target)) return true
      if (kept !== undefined) return kept.refuses(userAgent, target)
      // Visitors see only the robots.txt of the policy.
      if (serve) return false
      const sites = source()
      if (sites !== undefined) return sites.refuses(userAgent, target, host)
      return isOpen ? undefined : false
    },
    text(host) {
      if (kept !== undefined) return kept.text
      return serve ? own : source()?.text(host)
    },
    get status() {
      if (kept !== undefined) return [kept.status]
      return serve ? [] : (source()?.status ?? [])
    },
  }
}

/** Reports whether rules about robots.txt need an origin's file, which only a running proxy requests. */
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
      // A longer file counts only up to this length, so the rest is not read.
      return robotsText(await buffer(createReadStream(file, { end: MAX_ROBOTS_BYTES })))
    } catch (error) {
      const code = errorCode(error)
      throw new Error(code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code}`)
    }
  }
  const kept = new KeptRobots({ id: 'robots:file', title: file, every: FILE_MS, ask, now: Date.now, onTurned })
  await kept.read()
  if (kept.error !== undefined) throw new SallyportError('invalid_config', `robots.file: ${file} ${kept.error}`)
  return kept
}
