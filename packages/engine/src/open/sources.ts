import type { Clock, SourceStatus } from '@sallyport/core'
import { type DataHooks, type LiveData, openLiveData, writeBundle } from '#datasets'
import { parseConfig } from './config/read.ts'
import type { Config, ConfigInput } from './config/schema.ts'
import { DATA_LOCK, inDataDir } from './data-dir.ts'
import type { NoticeCode } from './hooks.ts'
import { readLists } from './lists/read-lists.ts'
import { createOutbound } from './outbound.ts'

export interface SourcesHooks extends DataHooks {
  readonly onNotice?: ((code: NoticeCode, message: string) => void) | undefined
}

/**
 * The data sets of a configuration, loaded, and compiled first where that is not done: no store is opened, so that a
 * dataDir which is prepared for others holds data alone. Rejects with `invalid_config` and `data_dir_unusable`.
 */
export async function readSources(
  options: ConfigInput = {},
  hooks: SourcesHooks = {},
): Promise<readonly SourceStatus[]> {
  const config = parseConfig(options)
  return withData(config, hooks, async ({ snapshots }) => {
    const lists = await readLists(config)
    return [...snapshots.current().sources, ...[...lists.values()].map(({ status }) => status)]
  })
}

/** The compiled tables of a configuration as a bundle, for runtimes without files. Rejects as `readSources`. */
export async function bundleData(options: ConfigInput = {}, hooks: SourcesHooks = {}): Promise<Uint8Array> {
  const config = parseConfig(options)
  return withData(config, hooks, ({ tablesFile, snapshots }) => writeBundle(tablesFile(), snapshots.current()))
}

function withData<Result>(
  config: Config,
  { onNotice = () => {}, ...hooks }: SourcesHooks,
  read: (live: LiveData) => Result | Promise<Result>,
): Promise<Result> {
  const data = { ...config.data, refresh: false }
  const clock: Clock = { now: () => Date.now() }
  return inDataDir(config, async () => {
    const live = await openLiveData(
      { ...config, data },
      {
        clock,
        outbound: createOutbound(config).feeds,
        lock: DATA_LOCK,
        observations: { find: () => undefined },
        hooks,
        notice: onNotice,
        onFault: (error) => onNotice('SALLYPORT_FAULT', String(error)),
      },
    )
    try {
      return await read(live)
    } finally {
      await live.close()
    }
  })
}
