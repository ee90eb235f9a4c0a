import { parseAddress } from '@sallyport/core'
import { InvalidArgumentError } from 'commander'

/** An address of a command line as it is written; refused as any wrong usage is where it is none. */
export function parseAddressOption(text: string): string {
  if (parseAddress(text) === undefined) throw new InvalidArgumentError('It is not an IPv4 or IPv6 address.')
  return text
}
