import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import { fileReason, makeSecret } from '@sallyport/engine/files'

/** Lists roles from the fewest rights: look; lift bans, change lists and renew data; change policy, accounts and keys. */
const ROLES = ['read', 'steer', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** Reports whether a role includes the rights of another. */
export function includes(role: Role | undefined, wanted: Role): boolean {
  return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(wanted)
}

export interface Tokens {
  readonly admin: string
  /** Absent: only the admin token steers. */
  readonly steer?: string | undefined
  /** Absent: readers need the admin token, or a session that a link opened. */
  readonly read?: string | undefined
}

/** Finds the role of a token; `undefined` for an unknown token. Takes the same time for any text. */
export function findRole({ admin, steer, read }: Tokens, given: string): Role | undefined {
  const isAdmin = isSame(admin, given)
  const isSteering = steer !== undefined && isSame(steer, given)
  const isReader = read !== undefined && isSame(read, given)
  if (isAdmin) return 'admin'
  if (isSteering) return 'steer'
  return isReader ? 'read' : undefined
}

/** Derives the key that signs sessions: other tokens end all sessions. */
export function sessionKey({ admin, steer = '', read = '' }: Tokens): Buffer {
  return createHmac('sha256', admin).update(`sallyport console sessions\n${read}\n${steer}`).digest()
}

function isSame(secret: string, given: string): boolean {
  return timingSafeEqual(digest(secret), digest(given))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

const NAME = 'console-token'
const SHORTEST = 16

/** Holds the tokens of a console, and the file with the administrators' token; absent where the configuration has it. */
export interface ReadTokens {
  readonly tokens: Tokens
  readonly file?: string | undefined
  /** Whether anyone can know the administrators' token; false where no file can hold it. */
  readonly isKept: boolean
}

type Configured = Readonly<Partial<Record<'adminToken' | 'steerToken' | 'readToken', string | undefined>>>

/**
 * Returns the configured tokens; without a configured admin token, the one in `<dataDir>/console-token`, which is created with mode 0600.
 * Where the file cannot be written, the token is new and known to no one, so that there is no administrator. Throws `invalid_config` for a
 * token in the file that can be guessed.
 */
export function readTokens(
  dataDir: string,
  { adminToken, steerToken: steer, readToken: read }: Configured = {},
): ReadTokens {
  if (adminToken !== undefined) return { tokens: { admin: adminToken, steer, read }, isKept: true }
  const file = join(dataDir, NAME)
  const made = randomBytes(24).toString('base64url')
  const admin = readOrMakeSecret(file, made)
  if (admin === undefined) return { tokens: { admin: made, steer, read }, isKept: false }
  if (admin.length >= SHORTEST) return { tokens: { admin, steer, read }, file, isKept: true }
  const advice = 'Delete the file, and the next start creates a new token'
  throw new SallyportError('invalid_config', `${file}: the token is shorter than ${SHORTEST} characters. ${advice}.`)
}

const FULL = ['ENOSPC', 'EDQUOT']

/** Returns the secret in a file, created as `made`; `undefined` where no file can be kept. Throws `data_dir_unusable` for a full disk. */
export function readOrMakeSecret(file: string, made: string): string | undefined {
  try {
    makeSecret(file, `${made}\n`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    // A read-only folder holds no token; a full disk is no reason for a token that no one knows.
    if (!FULL.includes(code)) return undefined
    throw new SallyportError('data_dir_unusable', `${file} ${fileReason(error, 'written')}`)
  }
}
