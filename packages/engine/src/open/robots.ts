import { compilePolicy, type MountPolicy, type Robots, writeRobots } from '@sallyport/core'
import type { Config } from '#config/service'
import { compileMountPolicy } from '#config/service'
import { listNames } from '#features/lists'
import { decoyLinks } from './decoy-links.ts'

/** A part of a site that has its own rules. */
export interface SitePart {
  /** Includes all paths below; default `/`. */
  readonly path?: string | undefined
  /** If absent, the service's policy applies. */
  readonly policy?: MountPolicy | undefined
  /** If absent, the service's mode applies. */
  readonly mode?: Config['mode'] | undefined
}

/**
 * Writes the robots.txt of a configuration, and lists what it could not express. `parts` are paths that have other policies. Throws
 * `invalid_policy`.
 */
export function robotsOfConfig(config: RobotsConfig, parts: readonly SitePart[] = []): Robots {
  const { robots, decoys } = config
  return writeRobots({ parts: compiledParts(config, parts), sitemaps: robots.sitemaps, decoys: decoys.paths })
}

type RobotsConfig = Pick<Config, 'policy' | 'mode' | 'robots' | 'lists' | 'decoys'>

/** Makes texts of a site from the configuration in force. */
export function createSiteTexts(config: () => Config) {
  return {
    robots: (parts?: readonly SitePart[]): string => robotsOfConfig(config(), parts).text,
    decoyLink: (): string => decoyLinks(config().decoys.paths),
  }
}

function compiledParts(config: RobotsConfig, parts: readonly SitePart[]) {
  // Names alone are enough: robots.txt has no words for lists.
  const named = { lists: listNames(config) }
  const compiled = parts.map(({ path, policy, mode = config.mode }) => ({
    path,
    mode,
    policy: policy === undefined ? compilePolicy(config.policy, named) : compileMountPolicy(policy, named),
  }))
  const everywhere = { policy: compilePolicy(config.policy, named), mode: config.mode }
  return [...compiled, everywhere]
}
