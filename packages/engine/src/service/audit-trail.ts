import { join } from 'node:path'
import { type AuditEntry, auditLine, createLog } from '#log'
import type { Settings } from '#settings'
import { inDataDir, isReadOnly } from './data-dir.ts'

/** File in the dataDir for commands whose service writes its log to standard output. */
export const AUDIT_FILE = 'audit.log'

/** Log of administrative commands. */
export interface AuditTrail {
  audit(entry: AuditEntry): void
  close(): Promise<void>
}

/**
 * Opens the trail of one command: `log.file`, else `audit.log` in the dataDir, else, where that can only be read,
 * `elsewhere`. Rejects with `invalid_config` or `data_dir_unusable` where the file cannot be written.
 */
export async function openAuditTrail(config: Settings, elsewhere: (line: string) => void): Promise<AuditTrail> {
  const file = config.log.file ?? (await ownFile(config))
  if (file === undefined) {
    return {
      audit(entry) {
        // A failed command has its own message there.
        if (entry.error === undefined) elsewhere(JSON.stringify(auditLine(entry)))
      },
      close: async () => {},
    }
  }
  const { audit, close } = createLog({
    ...config.log,
    file,
    onFault: (error) => elsewhere(`sallyport: ${file} lacks a line about this: ${error.message}`),
  })
  return { audit, close }
}

async function ownFile(config: Settings): Promise<string | undefined> {
  const { dataDir, data } = config
  if (data.readOnly || isReadOnly(dataDir)) return undefined
  return inDataDir(config, async () => join(dataDir, AUDIT_FILE))
}
