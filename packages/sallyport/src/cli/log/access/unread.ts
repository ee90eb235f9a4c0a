import { counted } from '@sallyport/core'
import { LACKS, type Lack } from './reading.ts'

/** Counts the lines of a log that were not judged, by the member that they lack. */
export type Unread = Readonly<Partial<Record<Lack, number>>>

export function sumUnread(unread: Unread): number {
  return Object.values(unread).reduce((sum, count) => sum + count, 0)
}

/** Writes `2 without a time, 1 without a request`. */
export function describeLacks(unread: Unread): string {
  return Object.entries(unread)
    .toSorted(([, x], [, y]) => y - x)
    .map(([lack, count]) => `${count.toLocaleString('en-US')} ${LACKS[lack as Lack]}`)
    .join(', ')
}

export function describeUnread(unread: Unread): string {
  return `${counted(sumUnread(unread), 'line')} not read: ${describeLacks(unread)}`
}
