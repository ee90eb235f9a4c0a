import type { Clock } from '@sallyport/core'
import { type DataHooks, type LiveData, openLiveData } from '#datasets/service'
import type { Settings } from '#settings'
import { DATA_LOCK, inDataDir } from './data-dir.ts'
import type { NoticeCode } from './hooks.ts'
import { createOutbound } from './outbound.ts'

export interface SourcesHooks extends DataHooks {
  readonly onNotice?: ((code: NoticeCode, message: string) => void) | undefined
}

/** Loads the data of a configuration, compiling it first where that is not done, and opens no store. */
export function withData<Result>(
  config: Settings,
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
