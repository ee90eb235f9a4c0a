import { join } from 'node:path'
import { type ConfigInput, open, type Sallyport } from '@sallyport/engine'
import type { Test } from 'tap'
import { NO_DATA } from '../no-data.ts'
import { makeFolder } from '../started.ts'

/** Returns the configuration of a service that knows no networks, logs nothing and believes a proxy on loopback. */
export function makeQuietConfig(t: Test | undefined, config: Partial<ConfigInput> = {}): ConfigInput {
  return {
    dataDir: join(makeFolder(t), 'state'),
    data: { refresh: false, sources: NO_DATA },
    log: { requests: 'off' },
    trustProxy: ['loopback'],
    ...config,
  }
}

/** Opens a service with that configuration: policies alone decide. It is closed when the test ends. */
export async function openWithoutData(
  t: Test,
  config: Partial<ConfigInput>,
  options?: Parameters<typeof open>[1],
): Promise<Sallyport> {
  const sallyport = await open(makeQuietConfig(t, config), options)
  t.teardown(() => sallyport.close())
  return sallyport
}
