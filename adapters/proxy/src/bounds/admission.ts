import { clientKey, WIDE_FACTOR } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import type { Answered, Refusal } from '@sallyport/node/internal'
import { limitRefusal } from '../exchange/answers.ts'
import type { Exchange, Holder } from '../exchange/exchange.ts'
import type { RefusalCause, Refusals } from '../exchange/refusals.ts'
import type { Slots, Taker } from './slots.ts'

export interface AdmissionOptions {
  /** Slots of requests or of tunnels. */
  readonly slots: Slots
  /** The cause of a request without a slot. */
  readonly cause: 'in_flight' | 'tunnels'
  readonly ipv6Prefix: number
  readonly bodyBytes: number
  readonly refusals: Refusals
  /** More is to be done than can be: a request that waited so long for its turn says so as well. */
  readonly isOverloaded: (waitedMs: number) => boolean
}

/** Lets requests in, within limits that hold for all clients together and for each. */
export interface Admission {
  /** The largest body. */
  readonly bodyBytes: number
  /** Key that the client of an address is counted under. */
  clientOf(address: string): string
  /** True while nothing new is begun. */
  isClosed(waitedMs: number): boolean
  /**
   * Takes a slot for an exchange of a client, which has it until its answer is sent. Waits for one; resolves to a refusal where none
   * comes in time, and never for an exchange that has ended: nobody waits for it any more.
   */
  admit(exchange: Exchange, client: string): Answered | Promise<Answered>
  /** Returns the answer that refuses an exchange, and counts why. */
  refuse(exchange: Exchange, cause: RefusalCause, refusal?: Refusal): ApiResponse
}

/** A request with a slot, or that waits for one. */
type Admitted = Taker & Holder

export function createAdmission({
  slots,
  cause,
  ipv6Prefix,
  bodyBytes,
  refusals,
  isOverloaded,
}: AdmissionOptions): Admission {
  const refuse: Admission['refuse'] = (exchange, why, refusal = limitRefusal(why)) => {
    refusals.count(why)
    return exchange.refuse(refusal, why)
  }
  return {
    bodyBytes,
    clientOf: (address) => sharerKey(address, ipv6Prefix),
    isClosed: isOverloaded,
    admit(exchange, client) {
      if (exchange.ended) return new Promise(() => {})
      let outcome: { readonly answered: Answered } | undefined
      let settle: ((answered: Answered) => void) | undefined
      const end = (answered: Answered): void => {
        outcome = { answered }
        settle?.(answered)
      }
      const taker: Admitted = {
        client,
        slot: undefined,
        granted: () => end(undefined),
        // A timer calls this function, or another exchange that leaves.
        refused: () => exchange.guard(() => end(refuse(exchange, cause))),
        left: () => slots.leave(taker),
      }
      exchange.admitted = taker
      slots.take(taker)
      if (outcome !== undefined) return (outcome as { readonly answered: Answered }).answered
      return new Promise((resolve) => {
        settle = resolve
      })
    },
    refuse,
  }
}

/** The networks of a site of IPv6, of which it has 65,536 to call from, are `WIDE_FACTOR` clients and no more. */
function sharerKey(address: string, ipv6Prefix: number): string {
  // An address of IPv4 is its own key.
  if (address !== '' && !address.includes(':')) return address
  const { narrow, wide } = clientKey(address, ipv6Prefix)
  if (wide === undefined) return narrow
  let sum = 0
  for (let at = 0; at < narrow.length; at++) sum += narrow.charCodeAt(at)
  return `${wide} ${sum % WIDE_FACTOR}`
}
