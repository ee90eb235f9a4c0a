import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HOUR_MS } from '@sallyport/core'
import type { Ended } from './ended.ts'
import type { Role } from './tokens.ts'

/** How long a session lasts. */
const SESSION_MS = 8 * HOUR_MS
/** How long a link signs in, once. */
const LINK_MS = HOUR_MS
/** How long a command may read. */
const COMMAND_MS = 60_000

export interface Session {
  readonly role: Role
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** A session, and the text that a browser keeps for it. */
export interface OpenedSession {
  readonly value: string
  readonly session: Session
}

/** Sessions that are signed, so that each process of a cluster knows them. */
export interface Sessions {
  open(role: Role, now: number): OpenedSession
  /** `undefined` for one that has ended, or was signed by nobody here. */
  read(value: string, now: number): Session | undefined
  /** A session of a reader for the code of a link, which is used up by it; `undefined` as above. */
  redeem(code: string, now: number): OpenedSession | undefined
  end(value: string, now: number): void
}

type Kind = Role | 'link'

/** The content that was signed: what it is, until when, and the name that it is ended by. */
interface Signed<K extends Kind> {
  readonly kind: K
  readonly until: number
  readonly nonce: string
}

export function createSessions(key: Uint8Array, ended: Ended): Sessions {
  function open(role: Role, now: number): OpenedSession {
    const until = now + SESSION_MS
    return { value: signed(key, role, until), session: { role, until } }
  }

  /** As it was signed, where it lasts still. */
  function lasting<K extends Kind>(text: string, kinds: readonly K[], now: number): Signed<K> | undefined {
    const found = verified(key, text, kinds)
    if (found === undefined || found.until <= now || ended.has(found.nonce, found.until)) return undefined
    return found
  }

  return {
    open,
    read(value, now) {
      const found = lasting(value, ['read', 'steer', 'admin'], now)
      return found && { role: found.kind, until: found.until }
    },
    redeem(code, now) {
      const found = lasting(code, ['link'], now)
      return found !== undefined && ended.add(found.nonce, found.until, now) ? open('read', now) : undefined
    },
    end(value, now) {
      const found = lasting(value, ['read', 'steer', 'admin', 'link'], now)
      if (found !== undefined) ended.add(found.nonce, found.until, now)
    },
  }
}

/** The code of a link, which signs a browser in as a reader, once within an hour. */
export function linkCode(key: Uint8Array, now: number): string {
  return signed(key, 'link', now + LINK_MS)
}

/** A session of a reader for one command, which asks at once. */
export function readerSession(key: Uint8Array, now: number): string {
  return signed(key, 'read', now + COMMAND_MS)
}

function signed(key: Uint8Array, kind: Kind, until: number): string {
  const text = `${kind}.${until}.${randomBytes(12).toString('base64url')}`
  return `${text}.${computeMac(key, text)}`
}

function verified<K extends Kind>(key: Uint8Array, given: string, kinds: readonly K[]): Signed<K> | undefined {
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
