import type { IncomingMessage } from 'node:http'
import { SallyportError } from '@sallyport/core'
import { createRate } from './rate.ts'
import { createSessions, type Session } from './sessions.ts'
import { type Role, sessionKey, type Tokens } from './tokens.ts'
import { COOKIE, isOwnPage, OWN_FIELD, type Visitor, visitorOf } from './visitor.ts'

/** Tries of tokens by one client, and calls. */
const TRIES = { burst: 10, perMinute: 6 }
const CALLS = { burst: 240, perMinute: 600 }

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict'

/** A session and the field that has a browser keep or forget it. */
export interface Signed<T> {
  readonly body: T
  readonly setCookie: string
}

/** Who comes in to the console, and for how long. */
export interface Door {
  /**
   * Who asks. Throws `rate_limit_exceeded`, `unauthorized` for a token that is not known, and `forbidden` for what comes
   * from a page that is not the console's own.
   */
  admit(request: IncomingMessage, now: number): Visitor
  /** Whether somebody may steer by the other paths of the admin listener. */
  permits(request: IncomingMessage, now: number): boolean
  /** A token, once shown, becomes a session of the browser. Throws `unauthorized`. */
  signIn(visitor: Visitor, now: number): Signed<Session>
  signOut(visitor: Visitor, now: number): Signed<{ readonly ended: true }>
  /** A session ended in another process. */
  forget(session: string, now: number): void
}

export function createDoor(tokens: Tokens): Door {
  const sessions = createSessions(sessionKey(tokens))
  const [tries, calls] = [createRate(TRIES), createRate(CALLS)]

  return {
    admit(request, now) {
      const client = clientOf(request)
      limit(calls.take(client, now))
      if (request.headers.authorization !== undefined && !tries.has(client, now)) limit(tries.take(client, now))
      const { isBadToken, ...visitor } = visitorOf(request, { tokens, sessions, now })
      if (isBadToken) {
        limit(tries.take(client, now))
        throw new SallyportError('unauthorized', 'This token is not known.')
      }
      if (visitor.by !== 'token') requireOwnPage(request)
      return visitor
    },
    permits(request, now) {
      const client = clientOf(request)
      if (!isOwnPage(request) || !tries.has(client, now)) return false
      const { role, by, isBadToken } = visitorOf(request, { tokens, sessions, now })
      if (isBadToken) tries.take(client, now)
      return role === 'admin' || by === 'machine'
    },
    signIn({ by, role }, now) {
      if (by !== 'token' || role === undefined) throw new SallyportError('unauthorized', TOKEN_NEEDED)
      const { value, session } = sessions.open(role, now)
      const age = Math.floor((session.until - now) / 1_000)
      return { body: session, setCookie: `${COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${age}` }
    },
    signOut({ session }, now) {
      if (session !== undefined) sessions.end(session, now)
      return { body: { ended: true }, setCookie: `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0` }
    },
    forget: sessions.end,
  }
}

const TOKEN_NEEDED = 'The console needs a token: Authorization: Bearer <TOKEN>.'

/** Throws `unauthorized` or `forbidden` for somebody who may not do what needs a role. */
export function requireRole(role: Role | 'anyone', visitor: Visitor): void {
  if (role === 'anyone' || visitor.role === 'admin' || visitor.role === role) return
  if (visitor.role === undefined) throw new SallyportError('unauthorized', TOKEN_NEEDED)
  throw new SallyportError('forbidden')
}

/** A page of another site can make a browser send requests, and what it has kept for this one goes with them. */
function requireOwnPage(request: IncomingMessage): void {
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  if (isOwnPage(request) && (isReading || request.headers[OWN_FIELD] === '1')) return
  throw new SallyportError('forbidden', "This comes from a page that is not the console's own.")
}

function limit(seconds: number): void {
  if (seconds > 0) throw new SallyportError('rate_limit_exceeded', undefined, { retryAfter: seconds })
}

function clientOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? ''
}
