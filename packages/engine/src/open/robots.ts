import { compilePolicy, type MountPolicy, type Robots, writeRobots } from '@sallyport/core'
import type { Config } from '#config/service'
import { compileMountPolicy } from '#config/service'
import { listNames } from '#features/lists'

/** A part of a site that has its own rules. */
export interface SitePart {
  /** Includes all paths below; default `/`. */
  readonly path?: string | undefined
  /** If absent, the service's policy applies. */
  readonly policy?: MountPolicy | undefined
  /** If absent, the service's mode applies. */
  readonly mode?: Config['mode'] | undefined
}

/** Writes the robots.txt of a configuration, whose `parts` have other policies, and lists what it cannot express. Throws `invalid_policy`. */
export function writeConfigRobots(config: RobotsConfig, parts: readonly SitePart[] = []): Robots {
  const { robots, decoys } = config
  // Names alone are enough: robots.txt has no words for lists.
  const named = { lists: listNames(config) }
  const everywhere = { policy: compilePolicy(config.policy, named), mode: config.mode }
  const compiled = parts.map(({ path, policy, mode = config.mode }) => ({
    path,
    mode,
    policy: policy === undefined ? everywhere.policy : compileMountPolicy(policy, named),
  }))
  return writeRobots({ parts: [...compiled, everywhere], sitemaps: robots.sitemaps, decoys: decoys.paths })
}

type RobotsConfig = Pick<Config, 'policy' | 'mode' | 'robots' | 'lists' | 'decoys'>

/** Makes texts of a site from the configuration in force. */
export function createSiteTexts(config: () => Config) {
  return {
    robots: (parts?: readonly SitePart[]): string => writeConfigRobots(config(), parts).text,
    decoyLink: (): string => decoyLinks(config().decoys.paths),
  }
}

/** Writes links that only programs follow. Attributes alone hide them, because the policy of a site may refuse a style (CSP). */
function decoyLinks(paths: readonly string[]): string {
  // A canonical path holds no other character that means something in an attribute.
  const escaped = paths.map((path) => path.replaceAll('&', '&amp;'))
  return escaped.map((path) => `<a href="${path}" rel="nofollow" tabindex="-1" aria-hidden="true" hidden></a>`).join('')
}
