import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Roles, each with the rights of those before it: look; lift bans, change lists and renew data; change policy, accounts
 * and keys.
 */
const ROLES = ['read', 'steer', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** Whether a role has the rights of another. */
export function includes(role: Role | undefined, wanted: Role): boolean {
  return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(wanted)
}

/** The secrets by which a role is given. */
export interface Tokens {
  readonly admin: string
  /** Absent: the admin token alone steers. */
  readonly steer?: string | undefined
  /** Absent: nobody reads without the admin token, or a session that was opened by a link. */
  readonly read?: string | undefined
}

/** The role of a token; `undefined` for one that is not known. Takes as long for any text. */
export function findRole({ admin, steer, read }: Tokens, given: string): Role | undefined {
  const isAdmin = isSame(admin, given)
  const isSteering = steer !== undefined && isSame(steer, given)
  const isReader = read !== undefined && isSame(read, given)
  if (isAdmin) return 'admin'
  if (isSteering) return 'steer'
  return isReader ? 'read' : undefined
}

/** The key that signs sessions: other tokens end all of them. */
export function sessionKey({ admin, steer = '', read = '' }: Tokens): Buffer {
  return createHmac('sha256', admin).update(`sallyport console sessions\n${read}\n${steer}`).digest()
}

function isSame(secret: string, given: string): boolean {
  return timingSafeEqual(digest(secret), digest(given))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
