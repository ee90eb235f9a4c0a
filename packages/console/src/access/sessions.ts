import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Role } from './tokens.ts'

/** How long a session lasts. */
const SESSION_MS = 8 * 3_600_000
/** Sessions that were ended early and are remembered until they would have ended. */
const MAX_ENDED = 10_000

export interface Session {
  readonly role: Role
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** Sessions that are signed, so that each process of a cluster knows them. */
export interface Sessions {
  open(role: Role, now: number): { readonly value: string; readonly session: Session }
  /** `undefined` for one that has ended, or was signed by nobody here. */
  read(value: string, now: number): Session | undefined
  end(value: string, now: number): void
}

export function createSessions(key: Uint8Array): Sessions {
  const ended = new Map<string, number>()
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url')

  function read(value: string, now: number): Session | undefined {
    const [role, until = '', nonce = '', mac = ''] = value.split('.', 5)
    if (role !== 'read' && role !== 'admin') return undefined
    const wanted = Buffer.from(sign(`${role}.${until}.${nonce}`))
    const given = Buffer.from(mac)
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
    if (Number(until) <= now || ended.has(nonce)) return undefined
    return { role, until: Number(until) }
  }

  return {
    open(role, now) {
      const until = now + SESSION_MS
      const text = `${role}.${until}.${randomBytes(12).toString('base64url')}`
      return { value: `${text}.${sign(text)}`, session: { role, until } }
    },
    read,
    end(value, now) {
      const session = read(value, now)
      if (session === undefined) return
      for (const [nonce, until] of ended) if (until <= now || ended.size >= MAX_ENDED) ended.delete(nonce)
      ended.set(value.split('.')[2] ?? '', session.until)
    },
  }
}
