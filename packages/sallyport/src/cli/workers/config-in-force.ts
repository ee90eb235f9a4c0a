import type { Config } from '@sallyport/engine'

/** The state in force when a worker was started. */
export interface Stamp {
  readonly text: string
  readonly readsFile: boolean
}

/** Holds, in the primary, the configuration that the workers of one command serve under: a replacement starts with the same. */
export interface InForce {
  readonly config: Config
  /** Records a request to read the file again. */
  ask(): void
  /** Returns what a worker starts with; without a configuration the worker reads the file. */
  start(readsFile: boolean): { readonly stamp: Stamp; readonly config: Config | undefined }
  /** Records that a worker serves with a configuration; returns true where a later change requires it to read the file. */
  serves(stamp: Stamp, config: Config): boolean
  /** Records that a reload has ended with this configuration. */
  take(config: Config): void
}

/** Creates the record. `first` is the configuration that the primary read; workers read the file until one of them serves. */
export function createInForce(first: Config): InForce {
  let known: { readonly config: Config; readonly text: string } | undefined
  let asked = 0
  /** Counts the requests that the known configuration includes. */
  let taken = 0
  const writeCount = (requests: number): string => `${requests} ${known?.text}`
  const take = (config: Config): void => {
    known = { config, text: JSON.stringify(Object.entries(config).sort()) }
    taken = asked
  }
  return {
    get config() {
      return known?.config ?? first
    },
    ask: () => void asked++,
    start(readsFile) {
      if (readsFile || known === undefined)
        return { stamp: { text: writeCount(asked), readsFile: true }, config: undefined }
      return { stamp: { text: writeCount(taken), readsFile: false }, config: known.config }
    },
    serves({ text, readsFile }, config) {
      if (text !== writeCount(asked)) return true
      if (readsFile) take(config)
      return false
    },
    take,
  }
}
