import type { ListFormat } from '@sallyport/core'

/**
 * Defines a list: by entries, a file, a URL with the age in milliseconds at which its copy is fetched again, or the decisions of CrowdSec.
 */
export type ListConfig = readonly string[] | FileConfig | RemoteConfig

/** A guarded list: third parties may write its entries. */
export interface Guarded {
  /** Whether to accept entries that would match everyone, or internal addresses. */
  readonly wide: boolean
}

export interface FileConfig extends Guarded {
  readonly file: string
  readonly format: ListFormat
}

export interface UrlConfig extends Guarded {
  readonly url: string
  readonly refresh: number
  readonly format: ListFormat
}

export interface CrowdsecConfig extends Guarded {
  /** Gives the URL of CrowdSec's local API. */
  readonly crowdsec: string
  readonly key: string
  /** CrowdSec is asked again after this many milliseconds. */
  readonly refresh: number
}

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
