import { signal } from '@preact/signals'

/** Holds the approximate time, in milliseconds since the epoch: ages on the page grow with it. */
export const now = signal(Date.now())

export function followTime(): void {
  setInterval(() => {
    now.value = Date.now()
  }, 5_000)
}
