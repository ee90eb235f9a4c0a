import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '@sallyport/engine/files'

/** An authority requests a token below this path (RFC 8555 8.3). */
const PATH = /^\/\.well-known\/acme-challenge\/([\w-]{1,128})$/

export type ChallengeFiles = ReturnType<typeof challengeFiles>

/** Keeps answers to challenges as files, because any worker may receive the request for an answer that another worker wrote. */
export function challengeFiles(folder: string) {
  return {
    async write(token: string, answer: string): Promise<void> {
      makeFolder(folder, 0o700)
      await writeFile(join(folder, token), answer, { mode: 0o600 })
    },
    remove: (token: string): Promise<void> => rm(join(folder, token), { force: true }),
  }
}

/** Returns the answer to a challenge that an authority requests; `undefined` where there is none. */
export function challengeAnswer(folder: string, target: string): string | undefined {
  const token = PATH.exec(target)?.[1]
  if (token === undefined) return undefined
  try {
    return readFileSync(join(folder, token), 'utf8')
  } catch {
    return undefined
  }
}
