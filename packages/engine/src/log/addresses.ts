import { createHmac } from 'node:crypto'
import { formatPrefix, makePrefix, parseAddress } from '@sallyport/core'
import { dailyKey } from './daily-key.ts'

/** The log writes addresses in one of these forms. */
export const ADDRESS_FORMS = ['full', 'truncated', 'hashed', 'none'] as const
export type AddressForm = (typeof ADDRESS_FORMS)[number]

/** Bits that `truncated` keeps. */
const KEPT_BITS = { 4: 24, 6: 48 } as const

const HASH_CHARACTERS = 22

/** Writes addresses in one form; `at` is in milliseconds since the epoch. Returns `undefined` if the form writes nothing. */
export type WriteAddress = (address: string, at: number) => string | undefined

/** Makes a writer; `folder` keeps the key of a day, so that all processes that share it hash alike. */
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
  return address === undefined ? undefined : formatPrefix(makePrefix(address, KEPT_BITS[address.family]))
}

/** Hashes an address to the same text for a day; afterwards nothing can tell which address it was. */
function hasher(folder: string | undefined): WriteAddress {
  const keyAt = dailyKey(folder)
  return (address, at) =>
    address === ''
      ? undefined
      : createHmac('sha256', keyAt(at)).update(address).digest('base64url').slice(0, HASH_CHARACTERS)
}
