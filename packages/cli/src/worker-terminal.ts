import type { NoticeCode } from '@sallyport/open'
import type { Terminal } from './terminal.ts'
import type { Standing } from './worker.ts'

/** A terminal that prints for all processes, as long as this one leads. */
export function ofLeader(standing: Standing, terminal: Terminal): Terminal {
  return {
    out: (text) => void (standing.leads && terminal.out(text)),
    err: (text) => void (standing.leads && terminal.err(text)),
  }
}

/** Codes of what a round of downloads came to; one worker has it, the one with the lock of the dataDir. */
const ROUNDS: ReadonlySet<NoticeCode> = new Set(['SALLYPORT_FEED_REFUSED', 'SALLYPORT_OFFLINE'])

/** Notices of a worker: who leads says what all notice, and each one that serves what came of its own round. */
export function noticesOf(standing: Standing, terminal: Terminal): (code: NoticeCode, message: string) => void {
  return (code, message) => {
    if (code === 'SALLYPORT_DATA_STALE') return
    if (standing.leads || (standing.serving && ROUNDS.has(code))) terminal.err(`sallyport: ${message}`)
  }
}
