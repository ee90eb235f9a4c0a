import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '#settings'

/** Names of a ledger's database and of the folder of its checkpoints in a dataDir. */
export const LEDGER_FILE = 'ledger.db'
export const CHECKPOINTS = 'checkpoints'

/** Whether the ledger is opened at start: an existing ledger or a configured key is checked then, and not at the first attestation. */
export function opensAtStart({ dataDir, data, provenance }: Settings): boolean {
  if (data.readOnly) return false
  const exists = [LEDGER_FILE, CHECKPOINTS].some((name) => existsSync(join(dataDir, name)))
  return exists || provenance.signingKey !== undefined
}
