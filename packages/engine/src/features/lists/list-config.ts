import type { z } from 'zod'
import type { OfCrowdsec, OfFile, OfUrl } from './keys.ts'

/**
 * Defines a list: by entries, a file, a URL with the age in milliseconds at which its copy is fetched again, or the decisions of CrowdSec.
 */
export type ListConfig = readonly string[] | FileConfig | RemoteConfig

export type FileConfig = Readonly<z.output<typeof OfFile>>
export type UrlConfig = Readonly<z.output<typeof OfUrl>>
export type CrowdsecConfig = Readonly<z.output<typeof OfCrowdsec>>

/** The dataDir keeps a copy of such a list. */
export type RemoteConfig = UrlConfig | CrowdsecConfig

/** Maps names to lists, as the configuration does. */
export type ListConfigs = Readonly<Record<string, ListConfig>>

/** Says where the lists of a configuration are. */
export interface ListsOfConfig {
  readonly lists: ListConfigs
  readonly dataDir: string
}

/** Reports whether the configuration itself contains the entries. */
export function isInline(config: ListConfig): config is readonly string[] {
  return Array.isArray(config)
}

/** Returns the place that a list is requested from. */
export function remoteUrl(config: RemoteConfig): string {
  return 'url' in config ? config.url : config.crowdsec
}
