import { compilePolicy, type MountPolicy, type Robots, robotsOf } from '@sallyport/core'
import { compileMountPolicy } from './config/mount-policy.ts'
import type { Config } from './config/schema.ts'
import { listNames } from './lists/read-lists.ts'

/** A part of a site that is decided by rules of its own. */
export interface SitePart {
  /** With all below it; default `/`. */
  readonly path?: string | undefined
  /** Absent: the policy of all. */
  readonly policy?: MountPolicy | undefined
  /** Absent: the mode of all. */
  readonly mode?: Config['mode'] | undefined
}

/**
 * The robots.txt of a configuration, with what it could not say. `parts`: where the policy of all is not that of the whole
 * site. Throws `invalid_config` for a signal that contradicts the policy, and `invalid_policy`.
 */
export function robotsOfConfig(
  config: Pick<Config, 'policy' | 'mode' | 'robots' | 'lists' | 'decoys'>,
  parts: readonly SitePart[] = [],
): Robots {
  const { signals, sitemaps } = config.robots
  // It asks no list: robots.txt has no words for them.
  const named = { lists: listNames(config) }
  const compiled = parts.map(({ path, policy, mode = config.mode }) => ({
    path,
    mode,
    policy: policy === undefined ? compilePolicy(config.policy, named) : compileMountPolicy(policy, named),
  }))
  const everywhere = { policy: compilePolicy(config.policy, named), mode: config.mode }
  return robotsOf({ parts: [...compiled, everywhere], signals, sitemaps, decoys: config.decoys.paths })
}
