import { SallyportError } from '@sallyport/core/tables'

/** How many lines of a file were read, and how many of them were not of the expected form. */
export interface LineTally {
  readonly good: number
  readonly bad: number
}

/** More than this share of bad lines means that the file is not what it says it is. */
const TOLERATED = 0.01

/**
 * Throws `corrupt_data` for a file of which nothing, or too little, could be read: a truncated download, an error page
 * or another format must never pass for a short list.
 */
export function requireMostlyGood({ good, bad }: LineTally, path: string): void {
  if (good === 0) throw new SallyportError('corrupt_data', `${path}: not one line of it could be read`)
  if (bad > (good + bad) * TOLERATED) {
    throw new SallyportError('corrupt_data', `${path}: ${bad} of ${good + bad} lines are not of the expected form`)
  }
}
