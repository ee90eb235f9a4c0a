import type { IncomingMessage } from 'node:http'
import { clientKey, SallyportError } from '@sallyport/core'
import { openEnded } from './ended.ts'
import { createRate } from './rate.ts'
import { createSessions, linkCode, type OpenedSession, readerSession, type Session } from './sessions.ts'
import { includes, type Role, sessionKey, type Tokens } from './tokens.ts'
import { COOKIE, findVisitor, isOwnPage, OWN_FIELD, shownIn, type Visitor } from './visitor.ts'

/** Limit wrong tokens by a client (an IPv6 /64) and by all, log lines about them, and calls and sign-ins by one known client. */
const WRONG = { burst: 10, perMinute: 6 }
const ALL_WRONG = { burst: 100, perMinute: 60 }
const NOTED = { burst: 10, perMinute: 2 }
const CALLS = { burst: 240, perMinute: 600 }
const SIGN_INS = { burst: 30, perMinute: 10 }

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict'

/** The answer to a sign-in or sign-out, with the field that makes a browser keep or forget a session. */
export interface Signed<T> {
  readonly visitor: Visitor
  readonly body: T
  readonly setCookie: string
}

export type Door = ReturnType<typeof openDoor>

interface DoorOptions {
  readonly tokens: Tokens
  /** The folder that keeps the ended sessions; absent: only memory keeps them. */
  readonly dataDir?: string | undefined
  /** Called when that folder cannot be written. */
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Receives each wrong token's sender, and whether it is one of the few to log. */
  readonly onWrong?: ((address: string, isNoted: boolean) => void) | undefined
}

/** Opens the door of the admin listener: only a token, or what was made with a token, lets a visitor in. */
export function openDoor({ tokens, dataDir, onFault = () => {}, onWrong = () => {} }: DoorOptions) {
  const sessions = createSessions(sessionKey(tokens), openEnded(dataDir, onFault))
  const [takeWrong, takeCall, takeSignIn] = [createRate(WRONG), createRate(CALLS), createRate(SIGN_INS)]
  const [takeAllWrong, takeNoted] = [createRate(ALL_WRONG), createRate(NOTED)]

  /** Counts a wrong token. Throws `rate_limit_exceeded` after too many; a valid token is accepted before this. */
  function countWrong({ socket: { remoteAddress = '' } }: IncomingMessage, now: number): void {
    onWrong(remoteAddress, takeNoted('', now) === 0)
    limit(takeWrong(clientKey(remoteAddress).narrow, now) || takeAllWrong('', now))
  }

  function refuse(request: IncomingMessage, now: number, message: string): never {
    countWrong(request, now)
    throw new SallyportError('unauthorized', message)
  }

  /**
   * Returns the visitor. Throws `rate_limit_exceeded`, `unauthorized` for an unknown token, and `forbidden` for a request from a page that
   * is not the console's own. No other client can cause the refusal of a valid token or session.
   */
  function admit(request: IncomingMessage, now: number): Visitor {
    const { isBadToken, ...visitor } = findVisitor(request, { tokens, sessions, now })
    if (isBadToken) refuse(request, now, 'This token is not valid.')
    if (visitor.role !== undefined) limit(takeCall(nameReader(request, visitor), now))
    if (visitor.by !== 'token') requireOwnPage(request)
    return visitor
  }

  function openSession(request: IncomingMessage, now: number): OpenedSession {
    const code = shownIn(request, 'Link')
    if (code === undefined) {
      const { by, role } = admit(request, now)
      if (by !== 'token' || role === undefined) throw new SallyportError('unauthorized', TOKEN_NEEDED)
      limit(takeSignIn(role, now))
      return sessions.open(role, now)
    }
    requireOwnPage(request)
    return sessions.redeem(code, now) ?? refuse(request, now, LINK_USED)
  }

  return {
    admit,
    /** Reports whether a request has a role, for other paths of the admin listener. Throws `rate_limit_exceeded` after wrong tokens. */
    permits(request: IncomingMessage, role: Role, now = Date.now()): boolean {
      const { isBadToken, ...visitor } = findVisitor(request, { tokens, sessions, now })
      if (isBadToken) countWrong(request, now)
      if (visitor.role === undefined || (visitor.by === 'session' && !isFromOwnPage(request))) return false
      return includes(visitor.role, role)
    },
    /** Exchanges a token, or the code of a link, for a session of the browser. Throws as `admit` does. */
    signIn(request: IncomingMessage, now: number): Signed<Session> {
      const { value, session } = openSession(request, now)
      const age = Math.floor((session.until - now) / 1_000)
      const visitor = { ...session, by: 'session', session: value } as const
      return { visitor, body: session, setCookie: `${COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${age}` }
    },
    signOut(request: IncomingMessage, now: number): Signed<{ readonly ended: true }> {
      const visitor = admit(request, now)
      if (visitor.session !== undefined) sessions.end(visitor.session, now)
      return { visitor, body: { ended: true }, setCookie: `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0` }
    },
    /** Ends a session or a link; in another process, that process's own. */
    forget: sessions.end,
  }
}

/**
 * Returns a link to the page that signs a browser in as a reader, once within an hour: its code follows the `#`. `url` is the admin
 * listener's; where that listens on every address, the link names this machine.
 */
export function signInLink(tokens: Tokens, url: string, now: number = Date.now()): string {
  const here = url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1')
  return `${here}/#sign-in=${linkCode(sessionKey(tokens), now)}`
}

/** Returns the fields with which a command reads: the readers' token, else a session of a minute, and never more rights. */
export function readerFields(tokens: Tokens, now: number = Date.now()): Readonly<Record<string, string>> {
  if (tokens.read !== undefined) return { authorization: `Bearer ${tokens.read}` }
  return { cookie: `${COOKIE}=${readerSession(sessionKey(tokens), now)}` }
}

const TOKEN_NEEDED = 'The console needs a token: Authorization: Bearer <TOKEN>.'
const LINK_USED = 'This link was used or has expired. Run `sallyport console` for a new link.'

/** Throws `unauthorized` or `forbidden` for a visitor without the required role. */
export function requireRole(role: Role | 'anyone', visitor: Visitor): void {
  if (role === 'anyone' || includes(visitor.role, role)) return
  if (visitor.role === undefined) throw new SallyportError('unauthorized', TOKEN_NEEDED)
  throw new SallyportError('forbidden')
}

/** Names what counts as one reader: a session, or all users of a token at one address. */
export function nameReader({ socket }: IncomingMessage, { role, session }: Visitor): string {
  return session ?? `${role} ${socket.remoteAddress}`
}

/** Reports whether the console's own page sent a request. Another site can make a browser send the console's cookies. */
function isFromOwnPage(request: IncomingMessage): boolean {
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  return isOwnPage(request) && (isReading || request.headers[OWN_FIELD] === '1')
}

function requireOwnPage(request: IncomingMessage): void {
  if (isFromOwnPage(request)) return
  throw new SallyportError('forbidden', 'The request comes from another page than the console.')
}

function limit(seconds: number): void {
  if (seconds > 0) throw new SallyportError('rate_limit_exceeded', undefined, { retryAfter: seconds })
}
