import { counted, createNamedList, type ListEntries, type NamedList, type SourceStatus } from '@sallyport/core'
import { shortList } from '#service'
import type { ListRead, WholeRead } from './read-list.ts'

/** How many entries of a kind there are, and the line of the first. */
type EntryCounts = Readonly<Record<keyof ListEntries['firstLines'], readonly [count: number, line: number]>>

/** A list without entries that is not read yet. */
export const UNREAD: NamedList = { ...createNamedList({ prefixes: [], systems: [], texts: [] }), isRead: false }

/** A list with fewer entries may lose nine of ten by a manual edit, or become ten times as long. */
const FEW = 10

/** An attack may multiply decisions of a live API within minutes, but not by ten above this number. */
const FEW_LIVE = 1_000

/** Writes one sentence about the entries that a guarded list omits. */
export function withheldSentence(name: string, { withheld, withheldCount }: ListEntries): string {
  const entries = shortList(withheld, withheldCount)
  return `list ${name}: skipped ${entries}: wider than /8 (IPv6 /16), internal, or any text. Set lists.${name}.wide: true to accept them.`
}

function unreadSentence(name: string, { unread, left }: ListEntries): string {
  const numbers = unread.length === 0 ? '' : ` (${shortList(unread.map(String), left)})`
  return `list ${name}: skipped ${counted(left, 'invalid line')}${numbers}. An entry is an address, CIDR, range, AS number, name or pattern.`
}

/** Keeps a list as it was last read successfully. */
export class KeptList {
  readonly name: string
  #list = UNREAD
  #size = 0
  #counts: EntryCounts | undefined
  #left = 0
  /** When the list was written or fetched; absent if the configuration holds it. */
  #at: number | undefined
  #staleAfter: number | undefined
  #error: string | undefined
  #said: string | undefined
  #leaves: readonly string[] = []
  #saidLeaves: readonly string[] = []

  constructor(name: string) {
    this.name = name
  }

  /** Returns the list that policies read now. */
  get named(): NamedList {
    return this.#list
  }

  /**
   * Reports whether to accept what a source returned; otherwise the list stays unchanged. A file may have been cut off, while decisions of
   * a live API expire; both may hold far more than their operator intended.
   */
  accepts(read: ListRead, { isLive = false } = {}): read is WholeRead {
    if (read.state === 'refused') return this.fail(read.reason)
    const { size } = read
    const shrunk = !isLive && (size === 0 ? this.#size > 0 : this.#size >= FEW && size * 10 <= this.#size)
    const grown = this.#size >= FEW && size >= Math.max(this.#size, isLive ? FEW_LIVE : 0) * 10
    return shrunk || grown ? this.fail(`has ${counted(size, 'entry', 'entries')}, but had ${this.#size} before`) : true
  }

  /** Counts the entries of each kind; `undefined` until the list was read once. */
  get entryCounts(): EntryCounts | undefined {
    return this.#counts
  }

  /** Accepts a list, however few entries it has. */
  take({ list, size, entries, outdated }: WholeRead, at?: number, staleAfter?: number): void {
    this.#list = list
    this.#size = size
    const { left, withheldCount, addresses, systems, texts, firstLines } = entries
    this.#counts = {
      addresses: [addresses.length, firstLines.addresses ?? 0],
      systems: [systems.length, firstLines.systems ?? 0],
      texts: [texts.length, firstLines.texts ?? 0],
    }
    this.#left = left + withheldCount
    const withheld = withheldCount === 0 ? [] : [withheldSentence(this.name, entries)]
    this.#leaves = left === 0 ? withheld : [...withheld, unreadSentence(this.name, entries)]
    if (outdated === undefined) this.renew(at, staleAfter)
    else this.fail(outdated)
  }

  /** Records that the same list was fetched again. */
  renew(at: number | undefined, staleAfter: number | undefined): void {
    this.#at = at
    this.#staleAfter = staleAfter
    this.#error = undefined
    this.#said = undefined
  }

  /** Keeps the present list and records why. */
  fail(reason: string): false {
    this.#error = reason
    return false
  }

  /** Returns why the list is kept, if the reason was not reported before. */
  get news(): string | undefined {
    if (this.#said === this.#error) return undefined
    this.#said = this.#error
    return this.#error
  }

  /** Returns sentences about lines and entries that are left out, unless they were reported before. */
  takeLeftNews(): readonly string[] {
    const news = this.#leaves.filter((sentence) => !this.#saidLeaves.includes(sentence))
    this.#saidLeaves = this.#leaves
    return news
  }

  /** Returns the row of the list among the data sets. */
  get status(): SourceStatus {
    const formatTime = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString())
    const checked = formatTime(this.#at)
    const { isRead } = this.#list
    return {
      id: `list:${this.name}`,
      title: 'configuration',
      state: isRead ? 'loaded' : 'absent',
      ...(isRead && { entries: this.#size }),
      ...(checked && { date: checked.slice(0, 10), checked }),
      ...(this.#staleAfter !== undefined && { staleAfter: formatTime(this.#staleAfter) }),
      ...(this.#left > 0 && { left: this.#left }),
      ...(this.#error !== undefined && (isRead ? { error: this.#error } : { reason: this.#error })),
      licence: '',
      credit: '',
    }
  }
}
