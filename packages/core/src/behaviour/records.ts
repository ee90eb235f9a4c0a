/*
 * A buffer that is allocated once holds the records of visits. The key of a visitor selects a set of `WAYS` slots, so that finding, making
 * and evicting a record take the same time however many visitors come.
 */

/** Limits the records: these take 3.3 megabytes. */
export const SLOTS = 16_384
const WAYS = 8

/** A visit ends after this time without a request, in milliseconds; a clock that jumps further ends it too. */
const IDLE_MS = 30 * 60_000

/** These columns are numbers. Times are milliseconds since the epoch. */
export const CELL = {
  /** The last request ended at this time; the last page, and the first page since the last file, began at these. */
  last: 0,
  page: 1,
  run: 2,
  /** The response that first set a cookie ended at this time. */
  set: 3,
  pages: 4,
  /** Counts the pages since the last own file. */
  sinceFile: 5,
  files: 6,
  /** Counts the files sent whole, without a condition. */
  whole: 7,
  /** Counts the pages requested after the site set a cookie, since the last page that returned it. */
  unreturned: 8,
  /** Counts the pages without any cookie after one was returned: another person at the same address, or a private window. */
  fresh: 9,
  referred: 10,
  /** Counts the pages in the sketch of different pages. */
  sketched: 11,
  /** Records the gaps between pages: their number, and mean and variance in seconds. */
  gaps: 12,
  gapMean: 13,
  gapVariance: 14,
} as const

/** These columns are 32 bits each, and follow the numbers. */
export const WORD = {
  /** A bit is set for the name of each cookie that the site set. */
  cookies: 30,
  /** The client's connection and headers had this hash at the last page. */
  wire: 31,
  flags: 32,
  /** Counts the requests for what the site does not have. */
  missing: 33,
  /** Counts the pages that were requested before the response to another request had ended. */
  parallel: 34,
} as const

/** A sketch of different pages or files begins at column `from` and has this number of words. */
export const SKETCH = { pages: { from: 35, words: 8 }, files: { from: 43, words: 4 } } as const
export type Sketch = (typeof SKETCH)[keyof typeof SKETCH]
const CELLS = 24

export const FLAG = {
  /** The first page came without a cookie. */
  bare: 1,
  returned: 2,
  /** The visitor has a pass, or is a user of the application. */
  proven: 4,
  /** The visit has taught the norms of its site. */
  judged: 8,
  /** The client asked whether a copy is still good. */
  conditional: 16,
} as const

/** One record and its key take these bytes. */
export const RECORD_BYTES = (CELLS + 1) * 8

/** Holds the table of records. A row is the place of a record; columns are read by it, so that a request allocates no object. */
export class Records {
  /** The keys of a set are side by side in memory. */
  readonly #keys: Float64Array
  readonly #cells: Float64Array
  readonly #words: Uint32Array

  constructor(slots = SLOTS) {
    this.#keys = new Float64Array(slots)
    this.#cells = new Float64Array(slots * CELLS)
    this.#words = new Uint32Array(this.#cells.buffer)
  }

  get(row: number, column: number): number {
    return this.#cells[row + column] as number
  }

  set(row: number, column: number, value: number): void {
    this.#cells[row + column] = value
  }

  add(row: number, column: number): void {
    ;(this.#cells[row + column] as number)++
  }

  has(row: number, flag: number): boolean {
    return (this.word(row, WORD.flags) & flag) !== 0
  }

  flag(row: number, flag: number): void {
    this.setWord(row, WORD.flags, this.word(row, WORD.flags) | flag)
  }

  word(row: number, column: number): number {
    return this.#words[2 * row + column] as number
  }

  setWord(row: number, column: number, value: number): void {
    this.#words[2 * row + column] = value
  }

  addWord(row: number, column: number): void {
    this.setWord(row, column, this.word(row, column) + 1)
  }

  /** Finds the row of a key; -1 where its visit has ended or never began. */
  find(key: number, now: number): number {
    const row = this.#locate(key) * CELLS
    return row < 0 || this.#isOver(row, now) ? -1 : row
  }

  /** Finds the row of a key, or starts a visit. */
  open(key: number, now: number): number {
    const known = this.#locate(key)
    if (known !== -1 && !this.#isOver(known * CELLS, now)) return known * CELLS
    const slot = known === -1 ? this.#findVictim(key, now) : known
    const row = slot * CELLS
    this.#cells.fill(0, row, row + CELLS)
    this.#keys[slot] = key
    return row
  }

  /** Counts the visits that have not ended. */
  size(now: number): number {
    let count = 0
    for (let row = 0; row < this.#cells.length; row += CELLS) if (!this.#isOver(row, now)) count++
    return count
  }

  /** Adds a hash to a sketch. */
  addTo(row: number, { from, words }: Sketch, hash: number): void {
    const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
    const bit = (mixed ^ (mixed >>> 15)) & (words * 32 - 1)
    const column = from + (bit >>> 5)
    this.setWord(row, column, this.word(row, column) | (1 << (bit & 31)))
  }

  clear(row: number, { from, words }: Sketch): void {
    this.#words.fill(0, 2 * row + from, 2 * row + from + words)
  }

  /** Estimates how many different hashes a sketch has (linear counting); Infinity where it is full. */
  countDifferent(row: number, { from, words }: Sketch): number {
    const bits = words * 32
    let zeros = bits
    for (let column = from; column < from + words; column++) zeros -= countOnes(this.word(row, column))
    return bits * Math.log(bits / zeros)
  }

  /** Returns the first of the slots in which the record of a key may be. */
  #first(key: number): number {
    return ((key >>> 0) % (this.#keys.length / WAYS)) * WAYS
  }

  #locate(key: number): number {
    const first = this.#first(key)
    for (let slot = first; slot < first + WAYS; slot++) if (this.#keys[slot] === key) return slot
    return -1
  }

  /** Finds the slot to reuse: a flood of visitors of one page is evicted before visits of several pages. */
  #findVictim(key: number, now: number): number {
    const first = this.#first(key)
    let [victim, least] = [first, Number.POSITIVE_INFINITY]
    for (let slot = first; slot < first + WAYS; slot++) {
      const row = slot * CELLS
      const lead = this.get(row, CELL.pages) < 2 ? 0 : IDLE_MS
      const worth = this.#isOver(row, now) ? 0 : this.get(row, CELL.last) + lead
      if (worth < least) [victim, least] = [slot, worth]
    }
    return victim
  }

  #isOver(row: number, now: number): boolean {
    return Math.abs(now - this.get(row, CELL.last)) > IDLE_MS
  }
}

function countOnes(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
