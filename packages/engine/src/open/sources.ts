import type { SourceStatus } from '@sallyport/core'
import { type ConfigInput, parseConfig } from '#config/service'
import { readKeptLists } from '#features/lists'
import { type SourcesHooks, withData } from '#service'

/** Loads the data sets of a configuration, and opens no store. Rejects with `invalid_config` and `data_dir_unusable`. */
export async function readSources(
  options: ConfigInput = {},
  hooks: SourcesHooks = {},
): Promise<readonly SourceStatus[]> {
  const config = parseConfig(options)
  return withData(config, hooks, async ({ snapshots }) => {
    const lists = await readKeptLists(config)
    return [...snapshots.current().sources, ...[...lists.values()].map(({ status }) => status)]
  })
}

/** The compiled tables of a configuration as a bundle, for runtimes without files. Rejects as `readSources`. */
export async function bundleData(options: ConfigInput = {}, hooks: SourcesHooks = {}): Promise<Uint8Array> {
  const config = parseConfig(options)
  const { writeBundle } = await import('#datasets')
  return withData(config, hooks, ({ tablesFile, snapshots }) => writeBundle(tablesFile(), snapshots.current()))
}
