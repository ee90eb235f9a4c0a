import type { SourceStatus, Surroundings } from '@sallyport/core'
import type { Config } from './config/schema.ts'
import type { NoticeCode } from './hooks.ts'
import { openLists } from './lists/lists.ts'
import type { Outbound } from './outbound.ts'

/** Parts of a service that its surroundings are made of. */
export interface SurroundingPorts {
  readonly outbound: Pick<Outbound, 'feeds'>
  readonly notice: (code: NoticeCode, message: string) => void
  readonly onFault: (error: unknown) => void
}

/** The part of the world that the policies of a service read beside requests. */
export interface OpenSurroundings {
  /** Of the configuration in force. */
  current(): Surroundings
  /** Opens those of another configuration. Rejects with `invalid_config`, and then nothing has changed. */
  surround(config: Config): Promise<{ readonly surroundings: Surroundings; take(): void }>
  /** Rows of lists among the data sets. */
  readonly sources: readonly SourceStatus[]
  close(): Promise<void>
}

export async function openSurroundings(
  config: Config,
  { outbound, notice, onFault }: SurroundingPorts,
): Promise<OpenSurroundings> {
  const lists = await openLists(config.lists, {
    dataDir: config.dataDir,
    readOnly: config.data.readOnly,
    outbound: config.net.outbound ? outbound.feeds : undefined,
    notice: (message) => notice('SALLYPORT_LIST', message),
    onFault,
  })
  return {
    current: () => ({ lists: lists.byName }),
    async surround(next) {
      const { byName, take } = await lists.prepare(next.lists)
      return { surroundings: { lists: byName }, take }
    },
    get sources() {
      return lists.status
    },
    close: lists.close,
  }
}
