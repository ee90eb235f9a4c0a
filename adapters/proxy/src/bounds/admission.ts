import { clientKey, WIDE_FACTOR } from '@sallyport/core'
import type { Refusal } from '@sallyport/node/internal'
import { answerWith, limitRefusal } from '../exchange/answers.ts'
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
  /** Calls `go` when the client has a slot, which it has until its answer is sent; or refuses. */
  admit(exchange: Exchange, client: string, go: () => void): void
  /** Answers, and counts why. */
  refuse(exchange: Exchange, cause: RefusalCause, refusal?: Refusal): void
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
  const refuse = (exchange: Exchange, why: RefusalCause, refusal = limitRefusal(why)): void => {
    refusals.count(why)
    answerWith(exchange, refusal, why)
  }
  return {
    bodyBytes,
    clientOf: (address) => sharerKey(address, ipv6Prefix),
    isClosed: isOverloaded,
    admit(exchange, client, go) {
      // Nobody waits for what was decided too late.
      if (exchange.ended) return
      const taker: Admitted = {
        client,
        slot: undefined,
        // They are called by a timer, or as another exchange leaves.
        granted: () => exchange.guard(go),
        refused: () => refuse(exchange, cause),
        left: () => slots.leave(taker),
      }
      exchange.admitted = taker
      slots.take(taker)
    },
    refuse,
  }
}

/** The networks of a site of IPv6, of which it has 65,536 to call from, are `WIDE_FACTOR` clients and no more (D45). */
function sharerKey(address: string, ipv6Prefix: number): string {
  const { narrow, wide } = clientKey(address, ipv6Prefix)
  if (wide === undefined) return narrow
  let sum = 0
  for (let at = 0; at < narrow.length; at++) sum += narrow.charCodeAt(at)
  return `${wide} ${sum % WIDE_FACTOR}`
}
