import { counted } from '@sallyport/core'
import { LACKS, type Lack } from './reading.ts'

/** Counts the lines of a log that were not judged. */
export interface Unread {
  readonly lines: number
  /** Counts lines by the member that they lack. */
  readonly lacking: Readonly<Partial<Record<Lack, number>>>
  /** Writes `2 without a time, 1 without a request`. */
  describe(): string
}

export interface UnreadCounter extends Unread {
  add(lacks: Lack): void
}

export function createUnread(): UnreadCounter {
  const lacking: Partial<Record<Lack, number>> = {}
  let lines = 0
  return {
    lacking,
    get lines() {
      return lines
    },
    add(lacks) {
      lines++
      lacking[lacks] = (lacking[lacks] ?? 0) + 1
    },
    describe: () =>
      Object.entries(lacking)
        .toSorted(([, x], [, y]) => y - x)
        .map(([lack, count]) => `${count.toLocaleString('en-US')} ${LACKS[lack as Lack]}`)
        .join(', '),
  }
}

export function describeUnread(unread: Unread): string {
  return `${counted(unread.lines, 'line')} not read: ${unread.describe()}`
}
