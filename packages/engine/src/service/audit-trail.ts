import { join } from 'node:path'
import { AUDIT_FILE, type AuditEntry, auditLine, createLog } from '#log'
import type { Settings } from '#settings'
import { inDataDir, isReadOnly } from './data-dir.ts'

/** Log of administrative commands. */
export interface AuditTrail {
  audit(entry: AuditEntry): void
  close(): Promise<void>
}

/**
 * Opens the trail of one command: `audit.log` in the dataDir and `log.file`; where neither can be written, `elsewhere`. Rejects with `invalid_config` or `data_dir_unusable` where the file cannot be written.
 */
export async function openAuditTrail(config: Settings, elsewhere: (line: string) => void): Promise<AuditTrail> {
  const files = [await ownFile(config), config.log.file].filter((file) => file !== undefined)
  if (files.length === 0) {
    return {
      audit(entry) {
        // A failed command has its own message there.
        if (entry.error === undefined) elsewhere(JSON.stringify(auditLine(entry)))
      },
      close: async () => {},
    }
  }
  const logs = files.map((file) =>
    createLog({
      ...config.log,
      file,
      onFault: (error) => elsewhere(`sallyport: this change could not be recorded in ${file}: ${error.message}`),
    }),
  )
  return {
    audit: (entry) => {
      for (const log of logs) log.audit(entry)
    },
    close: async () => void (await Promise.all(logs.map((log) => log.close()))),
  }
}

async function ownFile(config: Settings): Promise<string | undefined> {
  const { dataDir, data } = config
  if (data.readOnly || isReadOnly(dataDir)) return undefined
  return inDataDir(config, async () => join(dataDir, AUDIT_FILE))
}
