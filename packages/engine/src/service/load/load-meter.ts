/** A load goes on at what a rule says, and off at three quarters of it, after a minute at least. */
const OFF_SHARE = 0.75
const LEAST_MS = 60_000
/** More than that is no news: a machine that slept would be loaded for minutes. */
const MAX = 2
/** In so long two thirds of a change have come through. */
const SMOOTHING_MS = 3_000

/** Says that rules of a load are on from now on, or off. */
export type OnTurned = (turned: { readonly on: boolean; readonly atLeast: number; readonly load: number }) => void

/** The load of this server, of which 1 is a limit that is reached. Times are milliseconds of a clock that never goes back. */
export type LoadMeter = ReturnType<typeof createLoadMeter>

/** A rule that was asked by no request for so long is on for nobody, or belongs to a policy that is gone. */
const ASKED_MS = 300_000

interface Latch {
  asked: number
  readonly atLeast: number
  since: number | undefined
}

export function createLoadMeter(onTurned: OnTurned) {
  const latches = new Map<number, Latch>()
  let own = 0
  let others = 0
  let last: number | undefined
  const now = () => Math.max(own, others)

  function turn(time: number): void {
    const load = now()
    for (const latch of latches.values()) {
      const { atLeast, since } = latch
      if (since === undefined && load >= atLeast) latch.since = time
      else if (since !== undefined && load < atLeast * OFF_SHARE && time - since >= LEAST_MS) latch.since = undefined
      if ((latch.since === undefined) !== (since === undefined)) {
        onTurned({ on: latch.since !== undefined, atLeast, load })
      }
    }
  }
  return {
    now,
    /** The load of this process alone, smoothed. */
    get own(): number {
      return own
    },
    /** Whether a rule asks for it. */
    get isAsked(): boolean {
      return latches.size > 0
    },
    /** Whether a rule's load is on. */
    get isOn(): boolean {
      const time = last ?? 0
      return [...latches.values()].some(({ since, asked }) => since !== undefined && time - asked < ASKED_MS)
    },
    latch(atLeast: number): () => boolean {
      // Rules with one bound are on together, also those of a policy that takes another's place.
      const latch = latches.get(atLeast) ?? { atLeast, since: undefined, asked: 0 }
      latches.set(atLeast, latch)
      return () => {
        latch.asked = last ?? 0
        return latch.since !== undefined
      }
    },
    /** Takes what is measured. */
    take(sample: number, time: number): void {
      const share = last === undefined ? 0 : 1 - Math.exp((last - time) / SMOOTHING_MS)
      last = time
      own += (Math.min(sample, MAX) - own) * share
      turn(time)
    },
    /** Takes the highest load of the other processes. */
    takeOthers(load: number, time: number): void {
      others = load
      turn(time)
    },
  }
}
