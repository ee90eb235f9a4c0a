import type { Config } from '@sallyport/engine'

/** The state in force when a worker was started. */
export interface Stamp {
  readonly text: string
  readonly readsFile: boolean
}

/** The configuration that the workers of one command serve under, in the primary: a replacement starts with the same. */
export interface InForce {
  readonly config: Config
  /** Somebody asks for the file to be read again. */
  ask(): void
  /** Returns what a worker starts with; without a configuration it reads the file. */
  start(readsFile: boolean): { readonly stamp: Stamp; readonly config: Config | undefined }
  /** A worker serves with a configuration; true: something has changed since it was started, and it has to read the file. */
  serves(stamp: Stamp, config: Config): boolean
  /** A reload has ended, with this configuration. */
  take(config: Config): void
}

/** `first` is what the primary has read; the workers read the file until one of them serves. */
export function createInForce(first: Config): InForce {
  let known: { readonly config: Config; readonly text: string } | undefined
  let asked = 0
  /** How many of what was asked for are in what is known. */
  let taken = 0
  const textOf = (requests: number): string => `${requests} ${known?.text}`
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
        return { stamp: { text: textOf(asked), readsFile: true }, config: undefined }
      return { stamp: { text: textOf(taken), readsFile: false }, config: known.config }
    },
    serves({ text, readsFile }, config) {
      if (text !== textOf(asked)) return true
      if (readsFile) take(config)
      return false
    },
    take,
  }
}
