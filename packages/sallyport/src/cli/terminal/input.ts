import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { decodeText, fileReason } from '@sallyport/engine/files'

export const STANDARD_INPUT = '-'

export function inputName(file: string): string {
  return file === STANDARD_INPUT ? 'standard input' : file
}

/** Reads the text of a file, without a byte order mark. Rejects with an error in words that follow the file's name. */
export async function inputText(file: string): Promise<string> {
  return decodeText(await inputBytes(file)).replace(/^\uFEFF/, '')
}

async function inputBytes(file: string): Promise<Buffer> {
  try {
    return await (file === STANDARD_INPUT ? buffer(process.stdin) : readFile(file))
  } catch (error) {
    throw new Error(fileReason(error))
  }
}
