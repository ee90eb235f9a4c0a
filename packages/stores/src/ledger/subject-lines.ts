import type { PlacedRecord, Subject } from '@sallyport/ledger'
import { bytesOfHex, hexOf } from './hex.ts'

/*
 * The text of a block of subjects: a line for each of its records, which is empty where there is no subject or it was
 * erased. A line is the moment of issue, the salt in hexadecimal, the address, and the context where there is one, with
 * blanks between.
 */

/** The subjects of the records of a block. */
export interface SubjectBlock {
  readonly firstId: number
  /** When the first that is there was issued: time does not go back within a log. */
  readonly oldest: number
  readonly lines: string
}

/** What a line says. */
export interface SubjectLine {
  readonly issuedAt: number
  readonly subject: Subject
}

/**
 * The subjects of a run of records as a block; `undefined` where none has one. Throws for an address or a context with a
 * line break or an address with a blank, which they never have.
 */
export function subjectBlockOf(run: readonly PlacedRecord[]): SubjectBlock | undefined {
  let oldest: number | undefined
  let lines = ''
  for (const { issuedAt, subject } of run) {
    if (subject !== undefined) {
      oldest ??= issuedAt
      lines += subjectLine(issuedAt, subject)
    }
    lines += '\n'
  }
  return oldest === undefined ? undefined : { firstId: (run[0] as PlacedRecord).attestationId, oldest, lines }
}

function subjectLine(issuedAt: number, { address, salt, context }: Subject): string {
  const line = `${issuedAt} ${hexOf(salt)} ${address}`
  if (NOT_IN_ADDRESS.test(address) || context?.includes('\n')) throw new Error('A subject has a line break or a blank.')
  return context === undefined ? line : `${line} ${context}`
}

const NOT_IN_ADDRESS = /[ \n]/

/** `undefined` for the line of a subject that is not there. What somebody has written over it is read as it stands. */
export function readLine(line: string): SubjectLine | undefined {
  if (line === '') return undefined
  const saltAt = blankIn(line, 0) + 1
  const addressAt = blankIn(line, saltAt) + 1
  const contextAt = blankIn(line, addressAt) + 1
  const address = line.slice(addressAt, contextAt - 1)
  const salt = bytesOfHex(line.slice(saltAt, addressAt - 1))
  return {
    issuedAt: Number(line.slice(0, saltAt - 1)),
    subject: contextAt > line.length ? { address, salt } : { address, salt, context: line.slice(contextAt) },
  }
}

/** Where the next blank is, or would be behind the end. */
function blankIn(line: string, from: number): number {
  const at = line.indexOf(' ', from)
  return at < 0 ? line.length : at
}

/** The lines of a block. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  // The last line ends too.
  lines.pop()
  return lines
}

export function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
