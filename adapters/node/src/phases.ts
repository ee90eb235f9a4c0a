import { channel } from 'node:diagnostics_channel'
import type { ApiResponse } from '@sallyport/engine'

/**
 * The life of a request, in running order. Where `admit` and `forward` stand, a host other than the proxy calls its application. `receive`
 * makes the exchange (`receive.ts`), and `observe` reports it when its answer has ended (`observation.ts`). The phases between are in
 * `host-phases.ts`, and in `gate/phases.ts` of the proxy. A phase reads only what earlier phases wrote.
 */
export const PHASES = [
  'receive',
  'precheck',
  'route',
  'inspect',
  'decide',
  'answer',
  'admit',
  'forward',
  'observe',
] as const

export type PhaseName = (typeof PHASES)[number]

/** An answer ends the pipeline; without one the next phase runs. */
export type Answered = ApiResponse | undefined

/**
 * The phases that a host runs, by name; without `receive` the host receives an exchange when it creates it. A phase returns a promise where
 * it waits for a count in a store, DNS or a stage of the body.
 */
export type PhaseTable<E, Services> = {
  readonly [Name in Exclude<PhaseName, 'observe'>]?: (
    exchange: E,
    services: Services,
  ) => Answered | Promise<Answered> | Promise<undefined>
}

/** Payload of `sallyport.phase`, published when a phase begins; `id` identifies the request. */
export interface PhaseEvent {
  readonly phase: PhaseName
  readonly id: string
}

const LISTENERS = channel('sallyport.phase')

/** Tells listeners of `sallyport.phase` that a phase begins. */
export function announcePhase(phase: PhaseName, id: string): void {
  if (LISTENERS.hasSubscribers) LISTENERS.publish({ phase, id } satisfies PhaseEvent)
}

/** Orders the phases of a host, and returns a function that runs them on an exchange until a phase answers. Throws what a phase throws. */
export function createPipeline<E extends { readonly head: { readonly id: string } }, Services>(
  table: PhaseTable<E, Services>,
  services: Services,
): (exchange: E) => Answered | Promise<Answered> {
  const phases = PHASES.flatMap((name) => {
    const phase = name === 'observe' ? undefined : table[name]
    return phase === undefined ? [] : [{ name, phase }]
  })

  function runFrom(exchange: E, from: number): Answered | Promise<Answered> {
    for (let at = from; at < phases.length; at++) {
      const { name, phase } = phases[at] as (typeof phases)[number]
      // An exchange announces `receive` itself: before that it has no id.
      if (LISTENERS.hasSubscribers && name !== 'receive') announcePhase(name, exchange.head.id)
      const answered = phase(exchange, services)
      if (answered instanceof Promise) return answered.then((later) => later ?? runFrom(exchange, at + 1))
      if (answered !== undefined) return answered
    }
    return undefined
  }

  return (exchange) => runFrom(exchange, 0)
}
