import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConfigInput, open, type Sallyport } from '@sallyport/engine'
import type { Test } from 'tap'
import { NO_DATA } from '../no-data.ts'

/** A service that knows no networks and believes a proxy on loopback: policies alone decide. It is closed when the test ends. */
export async function openWithoutData(
  t: Test,
  config: Partial<ConfigInput>,
  options?: Parameters<typeof open>[1],
): Promise<Sallyport> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-hosts-'))
  // A database may leave a file behind while its folder goes.
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }))
  const sallyport = await open(
    {
      dataDir: join(folder, 'state'),
      data: { refresh: false, sources: NO_DATA },
      log: { requests: 'off' },
      trustProxy: ['loopback'],
      ...config,
    },
    options,
  )
  t.teardown(() => sallyport.close())
  return sallyport
}
