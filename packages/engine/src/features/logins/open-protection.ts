import type { Settings } from '#settings'
import { type AccountProtection, createAccountProtection } from './assess.ts'
import { createBoundedStore } from './bounded-store.ts'
import { createNameHash } from './hash-names.ts'
import { createMailReader } from './mail-facts.ts'
import { openUsers } from './open-users.ts'
import type { ProtectionPorts } from './ports.ts'
import { createUsers } from './users.ts'

/** Opens the stores of the protection of accounts. */
export function openProtection(
  config: Settings,
  ports: ProtectionPorts,
): AccountProtection & { close(): Promise<void> } {
  const { clock, onFault } = ports
  const store = createBoundedStore(openUsers(config, clock.now), config.timeouts.counting, onFault)
  const hash = createNameHash(config)
  const mails = createMailReader({ ...ports, store, hash })
  const users = createUsers(store)
  return { ...createAccountProtection({ ...ports, users, mails, hash }), close: store.close }
}
