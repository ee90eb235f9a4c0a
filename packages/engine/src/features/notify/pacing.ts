import { HOUR_MS } from '@sallyport/core'
import { LRUCache } from 'lru-cache'
import type { ServiceEvent } from '#service'

/** An event that may be sent, and how many of its kind and subject were left out before it. */
export interface Paced {
  readonly event: ServiceEvent
  /** When it was raised, in milliseconds. */
  readonly at: number
  readonly leftOut: number
}

/** At most one event of a kind and subject in this time, and one that says that it is over. */
export const PACE_MS = HOUR_MS

/** Subjects that are remembered; of one that is forgotten an event is sent early. */
const MAX_SUBJECTS = 1_000

/** Events of one kind and subject. */
interface Slot {
  /** The last one that was sent. */
  last: ServiceEvent | undefined
  /** When trouble, and its end, were sent last. */
  sentAt: { trouble: number; over: number }
  /** The latest of those that came too early; it is sent when its time has come, unless the opposite comes before. */
  held: { readonly event: ServiceEvent; readonly at: number } | undefined
  leftOut: number
}

/** The limit of events: which is sent at once, and which later. */
export interface Pacing {
  /** Returns the event where it is sent now. */
  offer(event: ServiceEvent): Paced | undefined
  /** Returns the held ones whose time has come. */
  due(): readonly Paced[]
  /** Milliseconds until a held one is due; `undefined` where none is held. */
  readonly wait: number | undefined
}

/** `onLeftOut`: an event will never be sent itself. `now` never goes back. */
export function createPacing(now: () => number, onLeftOut: (event: ServiceEvent) => void): Pacing {
  const slots = new LRUCache<string, Slot>({ max: MAX_SUBJECTS })

  function slotOf({ kind, about }: ServiceEvent): Slot {
    const key = `${kind} ${about}`
    let slot = slots.get(key)
    if (slot === undefined) {
      slot = { last: undefined, sentAt: { trouble: -PACE_MS, over: -PACE_MS }, held: undefined, leftOut: 0 }
      slots.set(key, slot)
    }
    return slot
  }
  const dueAt = (slot: Slot, event: ServiceEvent): number => slot.sentAt[sideOf(event)] + PACE_MS
  const send = (slot: Slot, event: ServiceEvent, at: number): Paced => {
    const paced = { event, at, leftOut: slot.leftOut }
    slot.last = event
    slot.sentAt[sideOf(event)] = now()
    slot.held = undefined
    slot.leftOut = 0
    return paced
  }
  const leaveOut = (slot: Slot, event: ServiceEvent): void => {
    slot.leftOut++
    onLeftOut(event)
  }

  return {
    offer(event) {
      const slot = slotOf(event)
      const { last, held } = slot
      if (held === undefined) {
        if (event.over === true && (last === undefined || last.over === true)) return undefined
        if (now() >= dueAt(slot, event)) return send(slot, event, now())
        if (isSame(event, last)) return undefined
        slot.held = { event, at: now() }
        return undefined
      }
      if (isSame(event, held.event)) return undefined
      leaveOut(slot, held.event)
      slot.held = undefined
      // Nothing is said where all is again as it was said last.
      if (isSame(event, last)) leaveOut(slot, event)
      else if (now() >= dueAt(slot, event)) return send(slot, event, now())
      else slot.held = { event, at: now() }
      return undefined
    },
    due() {
      const held = [...slots.values()].flatMap((slot) =>
        slot.held !== undefined && now() >= dueAt(slot, slot.held.event) ? [{ slot, held: slot.held }] : [],
      )
      return held.map(({ slot, held: { event, at } }) => send(slot, event, at))
    },
    get wait() {
      const times = [...slots.values()].flatMap((slot) => (slot.held ? [dueAt(slot, slot.held.event) - now()] : []))
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times))
    },
  }
}

function sideOf({ over }: ServiceEvent): 'trouble' | 'over' {
  return over === true ? 'over' : 'trouble'
}

/** Two processes notice the same: of an origin, a certificate. */
function isSame(one: ServiceEvent, other: ServiceEvent | undefined): boolean {
  return other !== undefined && one.text === other.text && one.over === other.over
}
