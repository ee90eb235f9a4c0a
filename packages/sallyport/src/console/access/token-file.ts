import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import { fileReason, makeSecret } from '@sallyport/engine/files'
import type { Tokens } from './tokens.ts'

const NAME = 'console-token'
const SHORTEST = 16

/** The tokens of a console, and the file that the one for administrators is in; absent where it was configured. */
export interface ReadTokens {
  readonly tokens: Tokens
  readonly file?: string | undefined
  /** Whether anybody knows the token for administrators; false where none can be kept. */
  readonly isKept: boolean
}

/**
 * The configured tokens; where no admin token is, the one in `<dataDir>/console-token`, which is made with mode 0600.
 * If nothing can be written there it is a new one that nobody knows, so that nobody is an administrator. Throws
 * `invalid_config` for a token in the file that can be guessed.
 */
export function readTokens(
  dataDir: string,
  {
    adminToken,
    steerToken: steer,
    readToken: read,
  }: {
    readonly adminToken?: string | undefined
    readonly steerToken?: string | undefined
    readonly readToken?: string | undefined
  } = {},
): ReadTokens {
  if (adminToken !== undefined) return { tokens: { admin: adminToken, steer, read }, isKept: true }
  const file = join(dataDir, NAME)
  const made = randomBytes(24).toString('base64url')
  const admin = readOrMakeSecret(file, made)
  if (admin === undefined) return { tokens: { admin: made, steer, read }, isKept: false }
  if (admin.length >= SHORTEST) return { tokens: { admin, steer, read }, file, isKept: true }
  const advice = 'delete the file, and the next start makes another'
  throw new SallyportError('invalid_config', `${file}: the token is shorter than ${SHORTEST} characters: ${advice}.`)
}

const FULL = ['ENOSPC', 'EDQUOT']

/**
 * The text of a file that only its owner reads, which is `made` where there is none; `undefined` where none can be kept. Throws
 * `data_dir_unusable` where the disk is full.
 */
export function readOrMakeSecret(file: string, made: string): string | undefined {
  try {
    makeSecret(file, `${made}\n`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    // A folder that can only be read has none; a full disk is no reason for a token that nobody knows.
    if (!FULL.includes(code)) return undefined
    throw new SallyportError('data_dir_unusable', `${file} ${fileReason(error, 'written')}`)
  }
}
