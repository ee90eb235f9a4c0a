import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { type ConfigInput, open } from '../../../src/open/index.ts'
import { requestFrom } from '../../open/requests.ts'

/** Opens a service; `of` answers with the action at an address, and `notices` has what is said of lists. */
export async function openListed(t: Test, config: ConfigInput) {
  const notices: string[] = []
  const sallyport = await open(config, {
    onNotice: (code, message) => code === 'SALLYPORT_LIST' && void notices.push(message),
  })
  t.teardown(() => sallyport.close())
  const of = (peer: string): string => sallyport.decide(requestFrom(peer)).action
  return { sallyport, notices, of }
}

/** Lists follow their places by looking at them: waits until they have. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(20)
}
