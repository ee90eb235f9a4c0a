import { parseBootstrap, SallyportError } from '@sallyport/core/tables'

/**
 * Counts the names of an RDAP bootstrap file (RFC 9224). Services with http alone are in the published one and count:
 * whoever asks them refuses. Throws `corrupt_data` naming the file where it is of another form or names nothing.
 */
export function countBootstrap(text: string, path: string): number {
  const count = parseBootstrap(text)?.size ?? 0
  if (count === 0) throw new SallyportError('corrupt_data', `${path}: no RDAP service is in it`)
  return count
}
