import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { type ConfigInput, open, type Sallyport } from '../../src/open/index.ts'
import type { OpenHooks } from '../../src/service/hooks.ts'

/** Opens a service that closes with its test. */
export async function openService(t: Test, config: ConfigInput, hooks: OpenHooks = {}): Promise<Sallyport> {
  const sallyport = await open(config, hooks)
  t.teardown(() => sallyport.close())
  return sallyport
}

/** Waits for what another loop brings about. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(20)
}
