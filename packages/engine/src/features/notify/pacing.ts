import { HOUR_MS } from '@sallyport/core'
import { LRUCache } from 'lru-cache'
import type { ServiceEvent } from '#service'

/** An event that may be sent, and how many of its kind and subject were left out before it. */
export interface Paced {
  readonly event: ServiceEvent
  /** When the event was raised, in milliseconds. */
  readonly at: number
  readonly leftOut: number
}

/** In this time at most one event of a kind and subject is sent, and one event that reports its end. */
export const PACE_MS = HOUR_MS

/** So many subjects are remembered; an event of a forgotten subject is sent early. */
const MAX_SUBJECTS = 1_000

interface Slot {
  /** Holds the last event that was sent. */
  last: ServiceEvent | undefined
  /** When trouble, and its end, were last sent. */
  sentAt: { trouble: number; over: number }
  /** Holds the latest early event. It is sent when its time has come, unless the opposite event comes first. */
  held: { readonly event: ServiceEvent; readonly at: number } | undefined
  leftOut: number
}

/** Calls `onLeftOut` with events that will never be sent. `now` never decreases. */
export function createPacing(now: () => number, onLeftOut: (event: ServiceEvent) => void) {
  const slots = new LRUCache<string, Slot>({ max: MAX_SUBJECTS })

  function findSlot({ kind, about }: ServiceEvent): Slot {
    const key = `${kind} ${about}`
    const sentAt = { trouble: -PACE_MS, over: -PACE_MS }
    const slot = slots.get(key) ?? { last: undefined, sentAt, held: undefined, leftOut: 0 }
    slots.set(key, slot)
    return slot
  }
  const dueAt = (slot: Slot, event: ServiceEvent): number => slot.sentAt[eventSide(event)] + PACE_MS
  const send = (slot: Slot, event: ServiceEvent, at: number): Paced => {
    const paced = { event, at, leftOut: slot.leftOut }
    slot.last = event
    slot.sentAt[eventSide(event)] = now()
    slot.held = undefined
    slot.leftOut = 0
    return paced
  }
  const leaveOut = (slot: Slot, event: ServiceEvent): void => {
    slot.leftOut++
    onLeftOut(event)
  }

  return {
    /** Returns the event if it is sent now. */
    offer(event: ServiceEvent): Paced | undefined {
      const slot = findSlot(event)
      const { last, held } = slot
      if (isSame(event, held?.event)) return undefined
      if (held !== undefined) {
        leaveOut(slot, held.event)
        slot.held = undefined
        // No event is sent if the state is again as last reported.
        if (isSame(event, last)) {
          leaveOut(slot, event)
          return undefined
        }
      } else if (event.over === true && (last === undefined || last.over === true)) return undefined
      if (now() >= dueAt(slot, event)) return send(slot, event, now())
      if (held !== undefined || !isSame(event, last)) slot.held = { event, at: now() }
      return undefined
    },
    /** Returns the held events that are due. */
    due(): readonly Paced[] {
      const held = [...slots.values()].flatMap((slot) =>
        slot.held !== undefined && now() >= dueAt(slot, slot.held.event) ? [{ slot, held: slot.held }] : [],
      )
      return held.map(({ slot, held: { event, at } }) => send(slot, event, at))
    },
    /** Milliseconds until a held event is due; `undefined` if none is held. */
    get wait(): number | undefined {
      const times = [...slots.values()].flatMap((slot) => (slot.held ? [dueAt(slot, slot.held.event) - now()] : []))
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times))
    },
  }
}

function eventSide({ over }: ServiceEvent): 'trouble' | 'over' {
  return over === true ? 'over' : 'trouble'
}

/** Reports whether two processes have noticed the same event, of an origin or a certificate. */
function isSame(one: ServiceEvent, other: ServiceEvent | undefined): boolean {
  return other !== undefined && one.text === other.text && one.over === other.over
}
