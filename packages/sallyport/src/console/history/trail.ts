import { open } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AUDIT_FILE,
  type AuditEntry,
  type AuditLine,
  auditLine,
  BAN_LINE,
  readEntry,
  type Sallyport,
} from '@sallyport/engine'

/** Actions of this process that are remembered where no file has them. */
const KEPT = 200
/** The end of a file that is read: some hundreds of lines, or thousands of bytes about requests. */
const TAIL_BYTES = 262_144

/** Reads the newest actions of operators from the ends of the logs, which may be large. */
export interface Trail {
  /** Writes an action into the log. */
  audit(entry: AuditEntry): void
  /** Those of this process that no file has. */
  remembered(): readonly AuditLine[]
  /** Those of the log and of commands beside the service, as far as the ends of their files have them. */
  written(): Promise<readonly AuditLine[]>
}

export function createTrail({ log, config }: Sallyport): Trail {
  const kept: AuditLine[] = []
  return {
    audit(entry) {
      log.audit(entry)
      // The log has it, under a moment of its own.
      if (config.log.file !== undefined) return
      kept.push(auditLine(entry))
      if (kept.length > KEPT) kept.shift()
    },
    remembered: () => kept,
    async written() {
      const files = [join(config.dataDir, AUDIT_FILE), ...(config.log.file === undefined ? [] : [config.log.file])]
      const lines = (await Promise.all(files.map(readTail))).flat()
      return lines.flatMap((line) => {
        const entry = readEntry(line)
        // An attack may be thousands of bans, which are a view of their own.
        return entry !== undefined && 'audit' in entry && entry.audit !== BAN_LINE ? [entry] : []
      })
    },
  }
}

/** The whole lines at the end of a file; none where it is not there. */
async function readTail(file: string): Promise<readonly string[]> {
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return []
  try {
    const { size } = await handle.stat()
    const from = Math.max(0, size - TAIL_BYTES)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from)
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n')
    return from === 0 ? lines : lines.slice(1)
  } finally {
    await handle.close()
  }
}
