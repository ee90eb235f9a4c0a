import { stripVTControlCharacters, styleText } from 'node:util'
import { fileReason } from '@sallyport/engine/files'
import { printable, printableJson, printableLine } from './printable.ts'

/** A command's output: answers go to `out`, messages about the run to `err`. Each call writes whole lines. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Whether the reader of the answers has left, as behind `head`, or has no room for them. */
  readonly isClosed?: boolean | undefined
}

/** Ends the command with an exit code and no further message. */
export class ExitError extends Error {
  readonly code: number

  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

export function processTerminal(): Terminal {
  let isClosed = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isClosed) return
    isClosed = true
    if (error.code === 'EPIPE') return
    process.stderr.write(`sallyport: standard output ${fileReason(error, 'written')}.\n`)
    // The command may end before the system reports this.
    process.once('exit', () => {
      process.exitCode ||= 1
    })
  })
  // No place is left for this message.
  process.stderr.on('error', () => {})
  return {
    get isClosed() {
      return isClosed
    },
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
  }
}

export function bold(text: string): string {
  return styleText('bold', text)
}

export function dim(text: string): string {
  return styleText('dim', text)
}

export function json(value: unknown): string {
  return printableJson(value, 2)
}

/** Aligns rows in columns, under a head where there is one; a cell is one line, and under a head it has no style. */
export function columns(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const cells = rows.map((row) => row.map((cell) => (head === undefined ? printableLine : printable)(cell)))
  const lines = head === undefined ? cells : [head.map(dim), ...cells]
  const widths: number[] = []
  for (const line of lines)
    for (const [column, cell] of line.entries()) widths[column] = Math.max(widths[column] ?? 0, measureWidth(cell))
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - measureWidth(cell))
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}

const WIDE =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uff01-\uff60]/gu

function measureWidth(text: string): number {
  return [...stripVTControlCharacters(text)].length + (text.match(WIDE)?.length ?? 0)
}
