import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** A role's rights: look, or change what the service does. */
export type Role = 'read' | 'admin'

/** The secrets by which a role is given. */
export interface Tokens {
  readonly admin: string
  /** Absent: nobody reads without the admin token, or a session that was opened by a link. */
  readonly read?: string | undefined
}

/** The role of a token; `undefined` for one that is not known. Takes as long for any text. */
export function roleOf({ admin, read }: Tokens, given: string): Role | undefined {
  const isAdmin = isSame(admin, given)
  const isReader = read !== undefined && isSame(read, given)
  if (isAdmin) return 'admin'
  return isReader ? 'read' : undefined
}

/** The key that signs sessions: other tokens end all of them. */
export function sessionKey({ admin, read = '' }: Tokens): Buffer {
  return createHmac('sha256', admin).update(`sallyport console sessions\n${read}`).digest()
}

function isSame(secret: string, given: string): boolean {
  return timingSafeEqual(digest(secret), digest(given))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
