import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HOUR_MS } from '@sallyport/core'
import type { Ended } from './ended.ts'
import type { Role } from './tokens.ts'

const SESSION_MS = 8 * HOUR_MS
const LINK_MS = HOUR_MS
const COMMAND_MS = 60_000

export interface Session {
  readonly role: Role
  /** The session is valid until then, in milliseconds since the epoch. */
  readonly until: number
}

/** A session, and the text that a browser keeps for it. */
export interface OpenedSession {
  readonly value: string
  readonly session: Session
}

export type Sessions = ReturnType<typeof createSessions>

type Kind = Role | 'link'

/** The signed content: the kind, the end, and the name by which it is ended. */
interface Signed<K extends Kind> {
  readonly kind: K
  readonly until: number
  readonly nonce: string
}

/** Signs sessions, so that each process of a cluster accepts them. */
export function createSessions(key: Uint8Array, ended: Ended) {
  function open(role: Role, now: number): OpenedSession {
    const until = now + SESSION_MS
    return { value: sign(key, role, until), session: { role, until } }
  }

  /** Returns the signed content while it is valid. */
  function readLasting<K extends Kind>(text: string, kinds: readonly K[], now: number): Signed<K> | undefined {
    const found = verify(key, text, kinds)
    if (found === undefined || found.until <= now || ended.has(found.nonce, found.until)) return undefined
    return found
  }

  return {
    open,
    /** Returns `undefined` for a session that has ended, or that no process here has signed. */
    read(value: string, now: number): Session | undefined {
      const found = readLasting(value, ['read', 'steer', 'admin'], now)
      return found && { role: found.kind, until: found.until }
    },
    /** Exchanges the code of a link for a reader's session, and uses the code up; `undefined` as in `read`. */
    redeem(code: string, now: number): OpenedSession | undefined {
      const found = readLasting(code, ['link'], now)
      return found !== undefined && ended.add(found.nonce, found.until, now) ? open('read', now) : undefined
    },
    end(value: string, now: number): void {
      const found = readLasting(value, ['read', 'steer', 'admin', 'link'], now)
      if (found !== undefined) ended.add(found.nonce, found.until, now)
    },
  }
}

/** Creates the code of a link, which signs a browser in as a reader, once within an hour. */
export function linkCode(key: Uint8Array, now: number): string {
  return sign(key, 'link', now + LINK_MS)
}

/** Creates a reader's session for one command, which sends its request at once. */
export function readerSession(key: Uint8Array, now: number): string {
  return sign(key, 'read', now + COMMAND_MS)
}

function sign(key: Uint8Array, kind: Kind, until: number): string {
  const text = `${kind}.${until}.${randomBytes(12).toString('base64url')}`
  return `${text}.${computeMac(key, text)}`
}

function verify<K extends Kind>(key: Uint8Array, given: string, kinds: readonly K[]): Signed<K> | undefined {
  const [word, until = '', nonce = '', mac = ''] = given.split('.', 5)
  const kind = kinds.find((kind) => kind === word)
  if (kind === undefined) return undefined
  const wanted = Buffer.from(computeMac(key, `${kind}.${until}.${nonce}`))
  const shown = Buffer.from(mac)
  if (shown.length !== wanted.length || !timingSafeEqual(shown, wanted)) return undefined
  return { kind, until: Number(until), nonce }
}

function computeMac(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}
