import { formatPrefix, makePrefix, parseAddress } from '@sallyport/core'

/** Shows so many bits of an address where logs may not hold all of it. */
const KEPT_BITS = { 4: 24, 6: 48 } as const

export type AddressForm = 'full' | 'truncated' | 'hashed' | 'none'

/** Shows an address as far as the service's log may hold it. */
export function shownAddress(text: string, form: AddressForm): string {
  if (form === 'full') return text
  const address = form === 'none' ? undefined : parseAddress(text)
  return address === undefined ? '' : formatPrefix(makePrefix(address, KEPT_BITS[address.family]))
}

/** Removes these addresses from all texts of a JSON value. */
export function withoutAddresses<T>(value: T, addresses: readonly string[], form: AddressForm): T {
  if (form === 'full') return value
  let text = JSON.stringify(value)
  for (const address of addresses) {
    if (address !== '') text = text.replaceAll(address, shownAddress(address, form) || 'an address')
  }
  return JSON.parse(text)
}
