/** Milliseconds that never go back. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = performance
