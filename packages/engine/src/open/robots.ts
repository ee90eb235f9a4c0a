import { compilePolicy, type MountPolicy, type Robots, robotsOf, type UsageTable, usageOf } from '@sallyport/core'
import type { Config } from '#config/service'
import { compileMountPolicy } from '#config/service'
import { listNames } from '#features/lists'
import { decoyLinks } from './decoy-links.ts'

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
export function robotsOfConfig(config: RobotsConfig, parts: readonly SitePart[] = []): Robots {
  const { signals, sitemaps } = config.robots
  return robotsOf({
    parts: compiledParts(config, parts),
    signals,
    sitemaps,
    license: config.usage?.license,
    decoys: config.decoys.paths,
  })
}

type RobotsConfig = Pick<Config, 'policy' | 'mode' | 'robots' | 'usage' | 'lists' | 'decoys'>

/** The fields of answers about the use of content; `undefined` where the configuration asks for none. `parts`: as for robots.txt. */
export function usageOfConfig(
  config: Omit<RobotsConfig, 'decoys'>,
  parts: readonly SitePart[] = [],
): UsageTable | undefined {
  if (config.usage === undefined) return undefined
  const { license } = config.usage
  return usageOf({ parts: compiledParts(config, parts), signals: config.robots.signals, license })
}

/** Texts and fields of a site that are made of the configuration in force. */
export function createSiteTexts(config: () => Config) {
  return {
    robots: (parts?: readonly SitePart[]): string => robotsOfConfig(config(), parts).text,
    usage: createUsages(config),
    decoyLink: (): string => decoyLinks(config().decoys.paths),
  }
}

/** Makes the fields of a configuration once, for each list of parts. */
function createUsages(config: () => Config): (parts?: readonly SitePart[]) => UsageTable | undefined {
  let made: { readonly of: Config; readonly by: Map<readonly SitePart[] | undefined, UsageTable> } | undefined
  return (parts) => {
    const of = config()
    if (of.usage === undefined) return undefined
    if (made?.of !== of) made = { of, by: new Map() }
    const found = made.by.get(parts) ?? (usageOfConfig(of, parts) as UsageTable)
    made.by.set(parts, found)
    return found
  }
}

function compiledParts(config: Omit<RobotsConfig, 'decoys'>, parts: readonly SitePart[]) {
  // It asks no list: robots.txt has no words for them.
  const named = { lists: listNames(config) }
  const compiled = parts.map(({ path, policy, mode = config.mode }) => ({
    path,
    mode,
    policy: policy === undefined ? compilePolicy(config.policy, named) : compileMountPolicy(policy, named),
  }))
  const everywhere = { policy: compilePolicy(config.policy, named), mode: config.mode }
  return [...compiled, everywhere]
}
