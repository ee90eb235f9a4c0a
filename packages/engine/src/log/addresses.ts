import { createHmac } from 'node:crypto'
import { formatPrefix, parseAddress, prefixOf } from '@sallyport/core'
import { dailyKey } from './daily-key.ts'

/** How much of an address is written down. */
export const ADDRESS_FORMS = ['full', 'truncated', 'hashed', 'none'] as const
export type AddressForm = (typeof ADDRESS_FORMS)[number]

/** Bits that `truncated` keeps. */
const KEPT_BITS = { 4: 24, 6: 48 } as const

/** 128 bits in base64url. */
const HASH_CHARACTERS = 22

/** Writes addresses in one form; `at` is in milliseconds since the epoch. `undefined`: nothing is written. */
export type WriteAddress = (address: string, at: number) => string | undefined

/** `folder` keeps the key of a day, so that all processes that share it hash alike. */
export function addressWriter(form: AddressForm, folder: string | undefined): WriteAddress {
  switch (form) {
    case 'full':
      return (address) => address || undefined
    case 'truncated':
      return truncated
    case 'hashed':
      return hasher(folder)
    case 'none':
      return () => undefined
  }
}

function truncated(text: string): string | undefined {
  const address = parseAddress(text)
  return address === undefined ? undefined : formatPrefix(prefixOf(address, KEPT_BITS[address.family]))
}

/** The same address has the same text for a day, and nobody can say afterwards whose it was. */
function hasher(folder: string | undefined): WriteAddress {
  const keyAt = dailyKey(folder)
  return (address, at) =>
    address === ''
      ? undefined
      : createHmac('sha256', keyAt(at)).update(address).digest('base64url').slice(0, HASH_CHARACTERS)
}
