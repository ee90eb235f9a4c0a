import { DIRECTORY_PATH, type KeySource } from './key-source.ts'
import type { SentSignature } from './message.ts'

/**
 * The tags by which an agent of a payment network signs what it asks of a shop (Visa's Trusted Agent Protocol, which
 * others build on as well), and what each is for.
 */
const PURPOSES: Readonly<Record<string, string>> = { 'agent-browser-auth': 'to browse', 'agent-payer-auth': 'to pay' }

export const PAYMENT_TAGS: readonly string[] = Object.keys(PURPOSES)

/** The longest that such a signature may be good for, in seconds. */
const LONGEST_LIFE_S = 8 * 60

/** Purpose of such a signature; `undefined` for one with another tag. */
export function paymentPurpose({ parameters }: SentSignature): string | undefined {
  const tag = parameters.get('tag')
  return typeof tag === 'string' && Object.hasOwn(PURPOSES, tag) ? PURPOSES[tag] : undefined
}

/** The profile's demands beyond those on every signature of an agent. */
export function paymentFault({ parameters, components }: SentSignature): string | undefined {
  if (Number(parameters.get('expires')) - Number(parameters.get('created')) > LONGEST_LIFE_S) {
    return 'it is valid for more than eight minutes'
  }
  if (typeof parameters.get('nonce') !== 'string') return 'nonce is missing'
  const names = components.map(([name]) => name)
  const isBound = names.includes('@target-uri') || (names.includes('@authority') && names.includes('@path'))
  return isBound ? undefined : 'it does not cover the path'
}

/**
 * Source of the keys of a payment network's agents: the network is configured, not named by the request, and (D223)
 * calls its keys as it likes.
 */
export function paymentSourceOf(place: string): KeySource {
  const { origin, pathname, search } = new URL(place)
  const path = pathname === '/' && search === '' ? DIRECTORY_PATH : pathname + search
  return {
    url: origin + path,
    identifier: origin + (path === DIRECTORY_PATH ? '' : pathname),
    form: 'keys',
    named: true,
  }
}
