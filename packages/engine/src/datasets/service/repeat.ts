import { setTimeout as delay } from 'node:timers/promises'

export interface RepeatOptions {
  /** Milliseconds before the first run, and between two runs; a jitter of a tenth changes each. */
  readonly first: number
  readonly pause: number
  /** Returns a number from 0 to 1, of this process. */
  readonly random: () => number
  readonly onFault: (error: unknown) => void
  /** Ends the repetition. */
  readonly signal: AbortSignal
}

/**
 * Runs work with pauses until aborted; a fault is reported and does not end it. Keeps no process alive. Resolves once
 * `signal` has aborted it and its work has ended.
 */
export async function repeat(work: () => Promise<void>, options: RepeatOptions): Promise<void> {
  const { first, pause, random, onFault, signal } = options
  for (let wait = first; await pauseFor(wait * (0.9 + 0.2 * random()), signal); wait = pause) {
    try {
      await work()
    } catch (error) {
      // Work that the abort cut short is no fault.
      if (!signal.aborted) onFault(error)
    }
  }
}

/** Returns false when aborted. */
async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(milliseconds, undefined, { signal, ref: false })
    return !signal.aborted
  } catch {
    return false
  }
}
