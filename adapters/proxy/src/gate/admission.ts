import { getHeapStatistics } from 'node:v8'
import { clientKey, WIDE_FACTOR } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import type { Limits } from '@sallyport/engine/limits'
import type { Answered, Refusal } from '@sallyport/node/internal'
import type { Slots, Taker } from '../bounds/slots.ts'
import { limitRefusal, type RefusalCause, type Refusals } from '../exchange/answers.ts'
import type { Exchange, Holder } from '../exchange/exchange.ts'

export interface AdmissionOptions {
  /** Gives slots to requests or to tunnels. */
  readonly slots: Slots
  /** Names the cause of a refusal without a slot. */
  readonly cause: 'in_flight' | 'tunnels'
  readonly refusals: Refusals
}

/** Admits requests within limits that hold for all clients together and for each client. */
export type Admission = ReturnType<typeof createAdmission>

export function createAdmission({ slots, cause, refusals }: AdmissionOptions) {
  /** Returns the answer that refuses an exchange, and counts the cause. */
  const refuse = (exchange: Exchange, why: RefusalCause, refusal: Refusal = limitRefusal(why)): ApiResponse => {
    refusals.count(why)
    return exchange.refuse(refusal, why)
  }
  return {
    /**
     * Takes a slot for an exchange, in which the client of this address is counted from now on, until its answer is sent. Waits for a slot;
     * resolves to a refusal where none comes in time, and never for an exchange that has ended, because its client has left.
     */
    admit(exchange: Exchange, address: string): Answered | Promise<Answered> {
      exchange.client = sharerKey(address)
      if (exchange.ended) return new Promise(() => {})
      let outcome: { readonly answered: Answered } | undefined
      let settle: ((answered: Answered) => void) | undefined
      const end = (answered: Answered): void => {
        outcome = { answered }
        settle?.(answered)
      }
      const taker: Taker & Holder = {
        client: exchange.client,
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

/** Returns a key of sharing. The 65,536 networks of an IPv6 site count as no more than `WIDE_FACTOR` clients. */
function sharerKey(address: string): string {
  // An IPv4 address is its own key.
  if (address !== '' && !address.includes(':')) return address
  const { narrow, wide } = clientKey(address)
  if (wide === undefined) return narrow
  let sum = 0
  for (let at = 0; at < narrow.length; at++) sum += narrow.charCodeAt(at)
  return `${wide} ${sum % WIDE_FACTOR}`
}

const INTERVAL_MS = 100

/** Reports whether the process is overloaded: measures ten times a second, so that the proxy soon admits requests again. */
export function watchOverload({ eventLoopDelay, heapUsed }: Pick<Limits, 'eventLoopDelay' | 'heapUsed'>) {
  let last = performance.now()
  let present = false
  const timer = setInterval(() => {
    const now = performance.now()
    const late = now - last - INTERVAL_MS
    last = now
    const { used_heap_size, heap_size_limit } = getHeapStatistics()
    present = late > eventLoopDelay || used_heap_size > heapUsed * heap_size_limit
  }, INTERVAL_MS).unref()
  return {
    get present(): boolean {
      return present
    },
    close: (): void => clearInterval(timer),
  }
}
