import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '@sallyport/engine'
import { DATA_DIR } from '../data-dir.ts'
import { type Scene, visitor } from './scene.ts'

/** The scene as users have it: `open()` over the embedded data, and visitors on networks that are what they are. */
export async function openRealScene(): Promise<Scene> {
  // All hosts together ask the keyless routes more often than a day allows: each scene begins a day of its own.
  for (const end of ['', '-wal', '-shm']) rmSync(join(DATA_DIR, `counts.db${end}`), { force: true })
  const options = {
    dataDir: DATA_DIR,
    data: { refresh: false },
    log: { requests: 'off' as const },
    trustProxy: ['loopback'],
    policy: {
      rules: [
        {
          id: 'by-law',
          match: { path: ['/by-law'], networkClass: ['tor' as const] },
          action: 'block' as const,
          status: 451 as const,
        },
        { id: 'no-tor', match: { networkClass: ['tor' as const] }, action: 'block' as const },
        { id: 'try-it', match: { path: ['/tried'] }, action: 'block' as const, monitor: true },
      ],
    },
  }
  const enforcing = await open(options)
  const monitoring = await open({ ...options, mode: 'monitor' })
  const { key } = await enforcing.keyring.issue({ plan: 'business' })
  return {
    allowed: visitor(
      '73.162.10.20',
      'action allow network-class residential_clean bot-probability 0.95 asn AS7922 country US',
    ),
    flagged: visitor('5.9.10.20', 'action flag network-class hosting bot-probability 0.95 asn AS24940 country DE'),
    blocked: visitor('185.220.101.10', 'action block network-class tor bot-probability 0.95 asn AS60729 country DE'),
    key,
    enforcing,
    monitoring,
    async close() {
      await enforcing.close()
      await monitoring.close()
    },
  }
}
