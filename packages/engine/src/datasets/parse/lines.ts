import { SallyportError } from '@sallyport/core'

const LINE_FEED = 10
const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** A file is decoded in pieces of whole lines of at least this size: one large string would double its memory. */
const PIECE_BYTES = 2 ** 20

/** Yields the lines of a UTF-8 file that are not empty. */
export function* readLines(bytes: Buffer): Generator<string> {
  let at = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  while (at < bytes.length) {
    const newline = bytes.indexOf(LINE_FEED, at + PIECE_BYTES)
    const end = newline === -1 ? bytes.length : newline + 1
    for (const line of bytes.toString('utf8', at, end).split(/\r?\n/)) if (line !== '') yield line
    at = end
  }
}

/** More than this share of bad lines means that the file is not what it says it is. */
const TOLERATED = 0.01

/** A short list with a few bad lines is accepted when it has so many good lines for each bad one. */
const GOOD_FOR_ONE_BAD = 8

/**
 * Throws `corrupt_data` for a file of which nothing, or too little, could be read: a truncated download, an error page
 * or another format must never pass for a short list. `few` bad lines may be in a file however short it is.
 */
export function requireMostlyGood(
  { good, bad }: { readonly good: number; readonly bad: number },
  path: string,
  few = 0,
): void {
  if (good === 0) throw new SallyportError('corrupt_data', `${path}: no line could be read`)
  const isFew = bad <= few && bad * GOOD_FOR_ONE_BAD <= good
  if (!isFew && bad > (good + bad) * TOLERATED) {
    throw new SallyportError('corrupt_data', `${path}: ${bad} of ${good + bad} lines do not have the expected format`)
  }
}
