import { type Head, openFrontier, type Subject, type Uncovered } from '@sallyport/ledger'
import type { Row } from '../account-rows.ts'

/** A head with the number that its log has in the database. */
export interface Tip {
  readonly id: number
  readonly head: Head
}

export function tipOf(row: Row): Tip {
  return { id: Number(row['id']), head: headOf(row) }
}

export function headOf(row: Row): Head {
  return {
    size: Number(row['size']),
    link: String(row['link']),
    issuedAt: Number(row['issued_at']),
    peaks: bytesOf(row, 'peaks'),
  }
}

/** A log that has grown beyond its newest checkpoint. */
export function uncoveredOf(row: Row): Uncovered {
  const { size, peaks } = headOf(row)
  return { log: String(row['name']), size, root: openFrontier(size, peaks).root(), covered: Number(row['covered']) }
}

export function subjectOf(row: Row): Subject {
  const context = row['context']
  const subject = { address: String(row['address']), salt: bytesOf(row, 'salt') }
  return context === null || context === undefined ? subject : { ...subject, context: String(context) }
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new TypeError(`${column} holds no bytes.`)
  return value
}

/**
 * So many whole numbers that SQLite has put behind one another, with commas. Digit by digit: to cut the text up and read
 * each part takes five times as long, and an audit reads some of each record.
 */
export function numbersOf(row: Row, column: string, count: number): Float64Array {
  const text = String(row[column])
  const numbers = new Float64Array(count)
  let index = 0
  let value = 0
  let sign = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA) {
      numbers[index++] = sign * value
      value = 0
      sign = 1
    } else if (code === MINUS) sign = -1
    else value = value * 10 + (code - ZERO)
  }
  numbers[index] = sign * value
  return numbers
}

const COMMA = 44
const MINUS = 45
const ZERO = 48
