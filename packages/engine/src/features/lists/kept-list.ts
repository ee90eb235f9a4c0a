import { type Address, counted, type ListEntries, type NamedList, type SourceStatus } from '@sallyport/core'
import { shortList } from '#service'
import type { ListRead, WholeRead } from './read-list.ts'

type EntryCounts = Readonly<Record<keyof Pick<ListEntries, 'addresses' | 'systems' | 'texts'>, number>>

const UNREAD: NamedList = {
  isRead: false,
  holds: () => false,
  hasSystem: () => false,
  matches: () => false,
  mentions: () => false,
}

/** A list of fewer entries may lose nine of ten by hand, or become ten times as long. */
const FEW = 10

/** Decisions of a live API, which an attack may multiply in minutes; ten times as many are no attack's any more. */
const FEW_LIVE = 1_000

/** One sentence about the entries that a guarded list leaves out. */
export function withheldSentence(
  name: string,
  { withheld, withheldCount }: Pick<ListEntries, 'withheld' | 'withheldCount'>,
): string {
  const entries = shortList(withheld, withheldCount)
  return `list ${name}: ${entries} left out: wider than /8 (IPv6 /16), internal, or any text; lists.${name}.wide: true takes such entries.`
}

/** A list as it was last read well: policies hold it, and ask what it holds now. */
export class KeptList implements NamedList {
  readonly name: string
  #list = UNREAD
  #size = 0
  #counts: EntryCounts | undefined
  #left = 0
  /** When it was written or fetched; absent where the configuration holds it. */
  #at: number | undefined
  #staleAfter: number | undefined
  #error: string | undefined
  #said: string | undefined
  #withheld: string | undefined
  #saidWithheld: string | undefined

  constructor(name: string) {
    this.name = name
  }

  get isRead(): boolean {
    return this.#list.isRead
  }

  holds(address: Address): boolean {
    return this.#list.holds(address)
  }

  hasSystem(asn: number): boolean {
    return this.#list.hasSystem(asn)
  }

  matches(text: string): boolean {
    return this.#list.matches(text)
  }

  mentions(folded: string): boolean {
    return this.#list.mentions(folded)
  }

  /**
   * Reports whether to take what a source answered; otherwise the list stays as it is. A file may have been cut off, while
   * decisions of a live API end by themselves; both may hold far more than their operator meant.
   */
  accepts(read: ListRead, { isLive = false } = {}): read is WholeRead {
    if (read.state === 'refused') return this.fail(read.reason)
    const { size } = read
    const shrunk = !isLive && (size === 0 ? this.#size > 0 : this.#size >= FEW && size * 10 <= this.#size)
    const grown = this.#size >= FEW && size >= Math.max(this.#size, isLive ? FEW_LIVE : 0) * 10
    return shrunk || grown ? this.fail(`has ${counted(size, 'entry', 'entries')} now and had ${this.#size}`) : true
  }

  /** How many entries of each kind it has; `undefined` until it was read once. */
  get entryCounts(): EntryCounts | undefined {
    return this.#counts
  }

  /** Takes it however few there are. */
  take({ list, size, entries, outdated }: WholeRead, at?: number, staleAfter?: number): void {
    this.#list = list
    this.#size = size
    const { left, withheldCount, addresses, systems, texts } = entries
    this.#counts = { addresses: addresses.length, systems: systems.length, texts: texts.length }
    this.#left = left + withheldCount
    this.#withheld = withheldCount === 0 ? undefined : withheldSentence(this.name, entries)
    if (outdated === undefined) this.renew(at, staleAfter)
    else this.fail(outdated)
  }

  /** The same was fetched again. */
  renew(at: number | undefined, staleAfter: number | undefined): void {
    this.#at = at
    this.#staleAfter = staleAfter
    this.#error = undefined
    this.#said = undefined
  }

  /** Keeps what there is, for a reason. */
  fail(reason: string): false {
    this.#error = reason
    return false
  }

  /** The reason why it is kept, where that was not said before. */
  get news(): string | undefined {
    if (this.#said === this.#error) return undefined
    this.#said = this.#error
    return this.#error
  }

  /** The entries that are left out, where that was not said before. */
  get withheldNews(): string | undefined {
    if (this.#saidWithheld === this.#withheld) return undefined
    this.#saidWithheld = this.#withheld
    return this.#withheld
  }

  /** Its row among the data sets. */
  get status(): SourceStatus {
    const isoOf = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString())
    const checked = isoOf(this.#at)
    return {
      id: `list:${this.name}`,
      title: 'list of the configuration',
      state: this.isRead ? 'loaded' : 'absent',
      ...(this.isRead && { entries: this.#size }),
      ...(checked && { date: checked.slice(0, 10), checked }),
      ...(this.#staleAfter !== undefined && { staleAfter: isoOf(this.#staleAfter) }),
      ...(this.#left > 0 && { left: this.#left }),
      ...(this.#error !== undefined && (this.isRead ? { error: this.#error } : { reason: this.#error })),
      licence: '',
      credit: '',
    }
  }
}
