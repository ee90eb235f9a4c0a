import { closeSync, fstatSync, statSync } from 'node:fs'
import sonic from 'sonic-boom'
import { OWN_FILE } from '#files'

/** Lines wait until they fill `held` bytes, or for `HELD_MS`: one write for each line costs more than a decision. */
interface Batch {
  readonly held: number
  /** Bytes that one write takes. */
  readonly written: number
}

/** A file appends any number of bytes in one piece, even if other workers write too. */
const IN_FILES: Batch = { held: 32_768, written: 65_536 }
/** A pipe appends at most this many bytes in one piece. */
const IN_PIPES: Batch = { held: 4_096, written: 4_096 }
const HELD_MS = 100
/** How long `close` waits for a disk or a reader that takes nothing. */
const CLOSE_MS = 2_000
/** Bytes of lines that wait for the disk or the reader; further lines are lost and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/**
 * Opens a file, or standard output if none is named, and calls `onFault` once for each kind of failure. Lines are joined here, because the
 * destination measures its whole buffer again for every line that it receives. `proof` is an open descriptor of the file, which is closed
 * as soon as the destination has its own.
 */
export function openLines(file: string | undefined, onFault?: (error: Error) => void, proof?: number) {
  let lines = ''
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  let lost = 0
  let closed = false
  const flush = (): void => {
    if (lines === '') return
    clearTimeout(timer)
    const text = lines
    lines = ''
    bytes = 0
    destination.write(text)
  }

  const batch = isFile(file) ? IN_FILES : IN_PIPES
  const destination = new sonic.SonicBoom({
    dest: file ?? 1,
    mode: OWN_FILE,
    sync: false,
    maxWrite: batch.written,
    maxLength: MAX_WAITING_BYTES,
  })
  const reported = new Set<string>()
  const lose = (error: Error, count: number): void => {
    lost += count
    if (reported.has(error.message)) return
    reported.add(error.message)
    onFault?.(error)
  }
  destination.on('error', (error: Error) => lose(error, 1))
  const writeAll = (): void => {
    flush()
    try {
      destination.flushSync()
    } catch {
      // The file never opened.
    }
  }
  process.on('exit', writeAll)
  if (proof !== undefined) destination.once('ready', () => closeSync(proof))
  destination.on('drop', (text: string) =>
    lose(new Error('the log cannot be written fast enough'), text.split('\n').length - 1),
  )

  return {
    /** Appends `line`, which ends in a line feed. */
    write(line: string): void {
      // A request that outlives the log is not logged and causes no error.
      if (closed) return void lost++
      const size = Buffer.byteLength(line)
      if (bytes + size > batch.held) flush()
      if (lines === '') timer = setTimeout(flush, HELD_MS).unref()
      lines += line
      bytes += size
    },
    /** Counts lines that could not be written. */
    get lost(): number {
      return lost
    },
    /** Sends waiting lines to the file. */
    flush,
    /** Reopens the file after a rotation moved it away. */
    reopen(): void {
      if (file === undefined || closed) return
      flush()
      destination.reopen()
    },
    /** Writes waiting lines and closes the file. */
    close: () =>
      new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(late)
          process.off('exit', writeAll)
          // Without this the destination would keep retrying.
          destination.destroy()
          resolve()
        }
        const late = setTimeout(end, CLOSE_MS)
        flush()
        closed = true
        destination.once('close', end)
        destination.once('error', end)
        destination.end()
      }),
  }
}

function isFile(file: string | undefined): boolean {
  try {
    return (file === undefined ? fstatSync(1) : statSync(file)).isFile()
  } catch {
    // Standard output can be closed.
    return false
  }
}
