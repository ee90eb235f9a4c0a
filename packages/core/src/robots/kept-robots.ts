import { errorText } from '../error-text.ts'
import type { SourceStatus } from '../ports/snapshot.ts'
import { parseRobots, type RobotsFile } from './robots-file.ts'

export interface KeptRobotsOptions {
  /** Returns its text, empty where there is none. Rejects where that is unknown; the message follows the name of the file. */
  ask(): Promise<string>
  /** Tells the time in milliseconds since the epoch. */
  now(): number
  /** Receives a sentence for the operator: the file became unreadable, or is readable again. */
  onTurned(message: string): void
  /** The list of sources names it by this id. */
  readonly id: string
  /** Sentences name it by this title. */
  readonly title: string
  /** It is read again after this time, in milliseconds. */
  readonly every: number
}

/** After a failure it is requested again after this time, in milliseconds. */
const RETRY = 60_000

/** Keeps a robots.txt as it was last read well; the first question after its time makes it read again. */
export class KeptRobots {
  readonly #options: KeptRobotsOptions
  #kept: { readonly file: RobotsFile; readonly text: string; readonly at: number } | undefined
  #next = 0
  #error: string | undefined
  #asking: Promise<void> | undefined

  constructor(options: KeptRobotsOptions) {
    this.#options = options
  }

  /** Returns `undefined` while it was never read. */
  refuses(userAgent: string, target: string): boolean | undefined {
    if (this.#options.now() >= this.#next) void this.read()
    return this.#kept?.file.refuses(userAgent, target)
  }

  /** Returns its text as it was last read well; `undefined` while it was never read. */
  get text(): string | undefined {
    if (this.#options.now() >= this.#next) void this.read()
    return this.#kept?.text
  }

  /** Reads it, unless a read is in flight. Never rejects: `error` says why it was not read. */
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
      const text = await ask()
      this.#kept = { file: parseRobots(text), text, at: now() }
      this.#next = this.#kept.at + every
      if (this.#error !== undefined) onTurned(`${title} can be read again.`)
      this.#error = undefined
    } catch (error) {
      const reason = errorText(error)
      this.#next = now() + Math.min(every, RETRY)
      const kept = this.#kept === undefined ? 'rules with match.robots ignore it' : 'the last copy stays in use'
      if (reason !== this.#error) onTurned(`${title} ${reason}: ${kept}.`)
      this.#error = reason
    }
  }

  get status(): SourceStatus {
    const common = { id: this.#options.id, title: 'robots.txt of the site', licence: '', credit: '' }
    const error = this.#error
    if (this.#kept === undefined) return { ...common, state: 'absent', ...(error !== undefined && { reason: error }) }
    const { file, at } = this.#kept
    const checked = new Date(at).toISOString()
    const known = { entries: file.size, date: checked.slice(0, 10), checked }
    return { ...common, state: 'loaded', ...known, ...(error !== undefined && { error }) }
  }
}
