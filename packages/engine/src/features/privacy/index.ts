import type { Feature } from '#service'
import type { Settings } from '#settings'

/** Finds and erases what every store and log knows of one address. */
export const feature: Feature<Record<never, never>> = { keys: {}, command: 'privacy' }

/** Exports what is known of an address. Throws `invalid_ip`. */
export async function exportKnown(config: Settings, address: string) {
  return (await import('./privacy.ts')).exportKnown(config, address)
}

/** Erases an address from every place that can be erased from. Throws `invalid_ip`. */
export async function eraseKnown(config: Settings, address: string) {
  return (await import('./privacy.ts')).eraseKnown(config, address)
}
