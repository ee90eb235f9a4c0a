import type { ListFormat } from '@sallyport/core'

/**
 * A list of the configuration: entries, a file, a URL with the age in milliseconds at which its copy is fetched again, or the
 * decisions of CrowdSec.
 */
export type ListConfig = readonly string[] | FileConfig | RemoteConfig

/** A list that others may write. */
export interface Guarded {
  /** Entries that would hold everybody, or internal addresses, are taken too. */
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
  /** URL of its local API. */
  readonly crowdsec: string
  readonly key: string
  /** CrowdSec is asked again after so many milliseconds. */
  readonly refresh: number
}

/** A list of which a copy is kept. */
export type RemoteConfig = UrlConfig | CrowdsecConfig

/** Lists by names, as the configuration has them. */
export type ListConfigs = Readonly<Record<string, ListConfig>>

/** The part of a configuration that says where lists are. */
export interface ListsOfConfig {
  readonly lists: ListConfigs
  readonly dataDir: string
}

/** Whether the configuration itself has the entries. */
export function isInline(config: ListConfig): config is readonly string[] {
  return Array.isArray(config)
}

/** Returns the place that a list is requested from. */
export function remoteUrl(config: RemoteConfig): string {
  return 'url' in config ? config.url : config.crowdsec
}
