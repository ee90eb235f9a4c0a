import { closeSync, openSync, readSync, statSync, writeFileSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import { fileReason } from '@sallyport/engine/files'
import { confirm } from './ask.ts'
import type { Terminal } from './terminal.ts'

/** A kind of files that a command writes at a given place. */
export interface WrittenKind {
  /** As messages name one. */
  readonly name: string
  /** Whether the first bytes of a file are of one: it is replaced without a question. */
  readonly isOurs: (head: Buffer) => boolean
}

/** Bytes within which a kind must show. */
const HEAD_BYTES = 512

/** Asks where the file is there and is none of this kind. */
export async function confirmOverwriting(
  file: string,
  { name, isOurs }: WrittenKind,
  yes: true | undefined,
  terminal: Terminal,
): Promise<void> {
  if (isReplaceable(file, isOurs)) return
  await confirm(`${file} exists and is not a ${name} that sallyport wrote: it would be overwritten.`, yes, terminal)
}

function isReplaceable(file: string, isOurs: WrittenKind['isOurs']): boolean {
  try {
    if (statSync(file).size === 0) return true
    const handle = openSync(file, 'r')
    try {
      const head = Buffer.alloc(HEAD_BYTES)
      return isOurs(head.subarray(0, readSync(handle, head)))
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    // A file that cannot be read cannot be judged: only one that is not there is nobody's.
    return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')
  }
}

/** Writes into the file that is named: a link, a pipe and a device stay what they are. */
export function writeInto(file: string, contents: string | Uint8Array): void {
  try {
    writeFileSync(file, contents)
  } catch (error) {
    throw new SallyportError('invalid_request', `${file} ${fileReason(error, 'written')}`)
  }
}
