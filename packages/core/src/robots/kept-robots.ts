import { errorText } from '../error-text.ts'
import type { SourceStatus } from '../ports/snapshot.ts'
import { parseRobots, type RobotsFile } from './robots-file.ts'

/** The place that a robots.txt is read from. */
export interface RobotsPorts {
  /** Its text, empty where there is none. Rejects where that is not known; the message follows the name of the file. */
  ask(): Promise<string>
  /** Milliseconds since the epoch. */
  now(): number
  /** A sentence for the operator: it could not be read, or can be again. */
  onTurned(message: string): void
}

export interface KeptRobotsOptions extends RobotsPorts {
  /** Its name among the sources. */
  readonly id: string
  /** Its name in sentences. */
  readonly title: string
  /** Milliseconds after which it is read again. */
  readonly every: number
}

/** Milliseconds after which it is asked for again where that failed. */
const RETRY = 60_000

/** A robots.txt as it was last read well; it is read again when somebody asks about it after its time. */
export class KeptRobots {
  readonly #options: KeptRobotsOptions
  #file: RobotsFile | undefined
  #at: number | undefined
  #next = 0
  #error: string | undefined
  #asking: Promise<void> | undefined

  constructor(options: KeptRobotsOptions) {
    this.#options = options
  }

  /** `undefined` while it was never read. */
  refuses(userAgent: string, target: string): boolean | undefined {
    if (this.#options.now() >= this.#next) void this.read()
    return this.#file?.refuses(userAgent, target)
  }

  /** Reads it, unless that is being done. Never rejects: `error` says why it was not read. */
  read(): Promise<void> {
    this.#asking ??= this.#read().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  get error(): string | undefined {
    return this.#error
  }

  async #read(): Promise<void> {
    const { ask, now, every, title, onTurned } = this.#options
    try {
      this.#file = parseRobots(await ask())
      this.#at = now()
      this.#next = this.#at + every
      if (this.#error !== undefined) onTurned(`${title} can be read again.`)
      this.#error = undefined
    } catch (error) {
      const reason = errorText(error)
      this.#next = now() + Math.min(every, RETRY)
      const kept = this.#file === undefined ? 'rules by robots.txt do not decide by it' : 'the last one stays in use'
      if (reason !== this.#error) onTurned(`${title} ${reason}: ${kept}.`)
      this.#error = reason
    }
  }

  /** Its row among the data sets. */
  get status(): SourceStatus {
    const file = this.#file
    const checked = this.#at === undefined ? undefined : new Date(this.#at).toISOString()
    const error = this.#error
    return {
      id: this.#options.id,
      title: 'robots.txt of the site',
      state: file === undefined ? 'absent' : 'loaded',
      ...(file !== undefined && { entries: file.size }),
      ...(checked !== undefined && { date: checked.slice(0, 10), checked }),
      ...(error !== undefined && (file === undefined ? { reason: error } : { error })),
      licence: '',
      credit: '',
    }
  }
}
