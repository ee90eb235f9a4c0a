import type { RequestTraits } from '../values/behaviour.ts'
import { CELL, FLAG, type Records, SKETCH, WORD } from './records.ts'

/** Describes a finished request, as it counts in a visit. Workers send each other these events. */
export interface VisitEvent {
  /** Names a client, its user agent and the site as a hash. */
  readonly key: number
  readonly site: string
  /** The request began and ended in these milliseconds since the epoch; whole, or an end would follow the begin of the next request. */
  readonly from: number
  readonly until: number
  readonly hasPass: boolean
  readonly hasUser: boolean
  readonly traits: RequestTraits
}

/** A longer time between two pages, in seconds, is a pause and shows no rhythm. */
const PAUSE = 300
/** Limits the gaps that mean and variance cover; older gaps count less. */
const MEMORY = 50
/** Limits the pages or files of a sketch: it then starts again, because it is nearly full. */
const MANY_PAGES = 400
const MANY_FILES = 200

/** Counts a finished request in the record of its visit, and returns the row of the record. */
export function recordEvent(records: Records, { key, from, until, hasPass, hasUser, traits }: VisitEvent): number {
  const { kind, isConditional, set } = traits
  const row = records.open(key, until)
  const last = records.get(row, CELL.last)
  // Responses end in another order than they begin.
  records.set(row, CELL.last, Math.max(until, last))
  if (hasPass || hasUser) records.flag(row, FLAG.proven)
  if (kind === 'missing') records.addWord(row, WORD.missing)
  else if (kind === 'file') recordFile(records, row, traits)
  else if (kind === 'page') {
    recordPage(records, row, from, traits)
    if (from < last) records.addWord(row, WORD.parallel)
  }
  if (isConditional) records.flag(row, FLAG.conditional)
  if (set !== 0) {
    const known = records.word(row, WORD.cookies)
    if (known === 0) records.set(row, CELL.set, until)
    records.setWord(row, WORD.cookies, known | set)
  }
  return row
}

function recordPage(
  records: Records,
  row: number,
  from: number,
  { sent, path, wire, isReferred }: RequestTraits,
): void {
  if (records.get(row, CELL.pages) === 0 && sent === 0) records.flag(row, FLAG.bare)
  if (records.get(row, CELL.sinceFile) === 0) records.set(row, CELL.run, from)
  recordCookies(records, row, from, sent)
  recordGap(records, row, from)
  records.add(row, CELL.pages)
  records.add(row, CELL.sinceFile)
  if (isReferred) records.add(row, CELL.referred)
  records.setWord(row, WORD.wire, wire)
  if (records.get(row, CELL.sketched) >= MANY_PAGES) {
    records.clear(row, SKETCH.pages)
    records.set(row, CELL.sketched, 0)
  }
  records.addTo(row, SKETCH.pages, path)
  records.add(row, CELL.sketched)
}

function recordFile(records: Records, row: number, { isConditional, path }: RequestTraits): void {
  records.add(row, CELL.files)
  records.set(row, CELL.sinceFile, 0)
  if (isConditional) return
  if (records.get(row, CELL.whole) >= MANY_FILES) {
    records.clear(row, SKETCH.files)
    records.set(row, CELL.whole, 0)
  }
  records.addTo(row, SKETCH.files, path)
  records.add(row, CELL.whole)
}

/** A page that was requested before the response with the cookie had ended could not return the cookie. */
function recordCookies(records: Records, row: number, from: number, sent: number): void {
  const set = records.word(row, WORD.cookies)
  if (set === 0 || from < records.get(row, CELL.set)) return
  if ((set & sent) !== 0) {
    records.flag(row, FLAG.returned)
    records.set(row, CELL.unreturned, 0)
    return
  }
  records.add(row, CELL.unreturned)
  if (sent === 0 && records.has(row, FLAG.returned)) records.add(row, CELL.fresh)
}

function recordGap(records: Records, row: number, from: number): void {
  const last = records.get(row, CELL.page)
  records.set(row, CELL.page, Math.max(last, from))
  const gap = (from - last) / 1_000
  if (last === 0 || gap < 0 || gap > PAUSE) return
  const gaps = Math.min(records.get(row, CELL.gaps) + 1, MEMORY)
  const mean = records.get(row, CELL.gapMean)
  const off = gap - mean
  records.set(row, CELL.gaps, gaps)
  records.set(row, CELL.gapMean, mean + off / gaps)
  records.set(row, CELL.gapVariance, (1 - 1 / gaps) * (records.get(row, CELL.gapVariance) + (off * off) / gaps))
}
