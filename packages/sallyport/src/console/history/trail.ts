import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { AUDIT_FILE, type AuditEntry, type AuditLine, auditLine, readEntry, type Sallyport } from '@sallyport/engine'

/** Limits the actions of this process that are remembered where no file has them. */
const KEPT = 200
/** Reads so many bytes at the end of the file: more than a thousand lines. */
const TAIL_BYTES = 262_144

export type Trail = ReturnType<typeof createTrail>

/** Writes actions of operators into the log, and reads the newest from the end of its file. */
export function createTrail({ log, config }: Sallyport) {
  const kept: AuditLine[] = []
  return {
    audit(entry: AuditEntry): void {
      log.audit(entry)
      // The file has the action, with its own time.
      if (!config.data.readOnly) return
      kept.push(auditLine(entry))
      if (kept.length > KEPT) kept.shift()
    },
    /** Lists the actions of this process that no file has. */
    remembered: (): readonly AuditLine[] => kept,
    /** Reads the actions of the service and of commands beside it. */
    async written(): Promise<readonly AuditLine[]> {
      const lines = await readTail(join(config.dataDir, AUDIT_FILE))
      return lines.flatMap((line) => {
        const entry = readEntry(line)
        return entry !== undefined && 'audit' in entry ? [entry] : []
      })
    },
  }
}

/** Reads the whole lines at the end of a file; none where the file is missing. */
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
