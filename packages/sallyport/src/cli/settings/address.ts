import { parseAddress } from '@sallyport/core'
import { InvalidArgumentError } from 'commander'

/** Parses an address of a command line; refuses any other text as wrong usage. */
export function parseAddressOption(text: string): string {
  if (parseAddress(text) === undefined) throw new InvalidArgumentError('The value is not an IPv4 or IPv6 address.')
  return text
}
