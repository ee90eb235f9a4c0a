import { signal } from '@preact/signals'

/** Milliseconds since the epoch, about: what is shown as an age grows with it. */
export const now = signal(Date.now())

export function followTime(): void {
  setInterval(() => {
    now.value = Date.now()
  }, 5_000)
}
