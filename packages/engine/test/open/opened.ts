import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { type ConfigInput, open, type Sallyport } from '../../src/open/index.ts'
import type { OpenHooks } from '../../src/service/hooks.ts'
import { madeConfig } from './made-sources.ts'

/** Opens a service that closes with its test. Its notices are dropped unless a hook takes them. */
export async function openService(t: Test, config: ConfigInput, hooks: OpenHooks = {}): Promise<Sallyport> {
  const sallyport = await open(config, { onNotice: () => {}, ...hooks })
  t.teardown(() => sallyport.close())
  return sallyport
}

/** Opens a service over the made network, in the folder of its test. */
export function openMade(t: Test, more: ConfigInput = {}, hooks: OpenHooks = {}): Promise<Sallyport> {
  return openService(t, { ...madeConfig(t.testdir()), ...more }, hooks)
}

/** Waits for what another loop brings about. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(20)
}
