import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder, OWN_FILE } from '@sallyport/engine/files'

/* Answers to challenges are files, because any worker may receive the request for an answer that another worker wrote. */

/** An authority requests a token below this path (RFC 8555 8.3). */
const PATH = /^\/\.well-known\/acme-challenge\/([\w-]{1,128})$/

/** Names the file with the answer to a token, within the folder of an account. */
function answerFile(folder: string, token: string): string {
  return join(folder, 'challenges', token)
}

export async function writeChallenge(folder: string, token: string, answer: string): Promise<void> {
  const file = answerFile(folder, token)
  makeFolder(dirname(file))
  await writeFile(file, answer, { mode: OWN_FILE })
}

export function removeChallenge(folder: string, token: string): Promise<void> {
  return rm(answerFile(folder, token), { force: true })
}

/** Returns the answer to a challenge that an authority requests; `undefined` where there is none. */
export function challengeAnswer(folder: string, target: string): string | undefined {
  const token = PATH.exec(target)?.[1]
  if (token === undefined) return undefined
  try {
    return readFileSync(answerFile(folder, token), 'utf8')
  } catch {
    return undefined
  }
}
