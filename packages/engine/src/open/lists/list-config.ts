import type { ListFormat } from '@sallyport/core'

/** A list of the configuration: entries, a file, or a URL with the age in milliseconds at which its copy is fetched again. */
export type ListConfig = readonly string[] | FileConfig | UrlConfig

export interface FileConfig {
  readonly file: string
  readonly format: ListFormat
}

export interface UrlConfig {
  readonly url: string
  readonly refresh: number
  readonly format: ListFormat
}

/** Lists by names, as the configuration has them. */
export type ListConfigs = Readonly<Record<string, ListConfig>>

/** The part of a configuration that says where lists are. */
export interface ListsOfConfig {
  readonly lists: ListConfigs
  readonly dataDir: string
}
