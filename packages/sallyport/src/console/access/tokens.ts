import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Lists roles, each with the rights of the roles before it: look; lift bans, change lists and renew data; change policy, accounts and keys.
 */
const ROLES = ['read', 'steer', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** Reports whether a role includes the rights of another. */
export function includes(role: Role | undefined, wanted: Role): boolean {
  return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(wanted)
}

/** Holds the secrets that grant roles. */
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
