import { formatPrefix, parseAddress, prefixOf } from '@sallyport/core'

/** Bits of an address that are shown where logs may not hold it whole. */
const KEPT_BITS = { 4: 24, 6: 48 } as const

export type AddressForm = 'full' | 'truncated' | 'hashed' | 'none'

/** An address as the console shows it: no more of it than the log of the service may hold. */
export function shownAddress(text: string, form: AddressForm): string {
  if (form === 'full') return text
  const address = form === 'none' ? undefined : parseAddress(text)
  return address === undefined ? '' : formatPrefix(prefixOf(address, KEPT_BITS[address.family]))
}

/** A value as JSON without these addresses, wherever in its texts they are. */
export function withoutAddresses<T>(value: T, addresses: readonly string[], form: AddressForm): T {
  if (form === 'full') return value
  let text = JSON.stringify(value)
  for (const address of addresses) {
    if (address !== '') text = text.replaceAll(address, shownAddress(address, form) || 'an address')
  }
  return JSON.parse(text)
}
