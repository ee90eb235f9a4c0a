import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { decodeText, fileReason } from '@sallyport/engine/files'

/** Standard input in the place of a file. */
export const STANDARD_INPUT = '-'

/** A file as messages name it. */
export function inputName(file: string): string {
  return file === STANDARD_INPUT ? 'standard input' : file
}

/** The text of a file, without the mark that some programs write first. Rejects with an error in words that follow its name. */
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
