import { counted } from '@sallyport/core'
import type { AccessFormat } from './format.ts'
import { ACCESS_FORMATS } from './formats.ts'
import { LACKS, type Lack } from './reading.ts'

/** The lines of a log that were not judged. */
export interface Unread {
  readonly lines: number
  /** Lines by what they lack. */
  readonly lacking: Readonly<Partial<Record<Lack, number>>>
  /** `3 lines not read: 2 without a time, 1 without a request`, and what cures it; none where all were read. */
  notes(): readonly string[]
  /** Why there is nothing to judge, where not one line was read. */
  sentence(): string
}

export interface UnreadCounter extends Unread {
  add(lacks: Lack, format: AccessFormat | undefined): void
}

/** `said` names the format in which alone the lines were read. */
export function createUnread(said?: string): UnreadCounter {
  const lacking: Partial<Record<Lack, number>> = {}
  const cures = new Set<string>()
  let lines = 0
  const listed = () =>
    Object.entries(lacking)
      .toSorted(([, x], [, y]) => y - x)
      .map(([lack, count]) => `${count.toLocaleString('en-US')} ${LACKS[lack as Lack]}`)
      .join(', ')
  return {
    lacking,
    get lines() {
      return lines
    },
    add(lack, format) {
      lines++
      lacking[lack] = (lacking[lack] ?? 0) + 1
      const cure = format?.cures?.[lack]
      if (cure !== undefined) cures.add(cure)
    },
    notes: () => (lines === 0 ? [] : [`${counted(lines, 'line')} not read: ${listed()}`, ...cures]),
    sentence() {
      const read =
        said === undefined
          ? `The formats that are known are ${NAMES}; --fields names the members of other JSON.`
          : `None is in format ${said}.`
      const known = lacking.request === lines && cures.size === 0 ? ` ${read}` : ''
      return `${[`not one of ${counted(lines, 'line')} can be judged: ${listed()}.`, ...cures].join(' ')}${known}`
    },
  }
}

const NAMES = ACCESS_FORMATS.map(({ name }) => name).join(', ')
