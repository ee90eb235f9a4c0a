import type { IncomingMessage } from 'node:http'
import { clientKey, SallyportError } from '@sallyport/core'
import { type Ended, openEnded } from './ended.ts'
import { createRate } from './rate.ts'
import { createSessions, linkCode, type OpenedSession, readerSession, type Session } from './sessions.ts'
import { includes, type Role, sessionKey, type Tokens } from './tokens.ts'
import { COOKIE, findVisitor, isOwnPage, OWN_FIELD, shownIn, type Visitor } from './visitor.ts'

/**
 * Wrong tokens by one client (an IPv6 /64), and by all together, before they are answered to wait; lines about them; and calls
 * and sign-ins by one that is known.
 */
const WRONG = { burst: 10, perMinute: 6 }
const ALL_WRONG = { burst: 100, perMinute: 60 }
const NOTED = { burst: 10, perMinute: 2 }
const CALLS = { burst: 240, perMinute: 600 }
const SIGN_INS = { burst: 30, perMinute: 10 }

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict'

/** The answer to signing in or out, and the field that has a browser keep or forget a session. */
export interface Signed<T> {
  readonly visitor: Visitor
  readonly body: T
  readonly setCookie: string
}

/** Admission to the console, and its duration. */
export interface Door {
  /**
   * Visitor. Throws `rate_limit_exceeded`, `unauthorized` for a token that is not known, and `forbidden` for what comes
   * from a page that is not the console's own. Nothing that others sent has a right token or session refused.
   */
  admit(request: IncomingMessage, now: number): Visitor
  /** Whether a request has a role, for the other paths of the admin listener. Throws `rate_limit_exceeded` after wrong tokens. */
  permits(request: IncomingMessage, role: Role, now?: number): boolean
  /** A token or the code of a link, once shown, becomes a session of the browser. Throws as `admit` does. */
  signIn(request: IncomingMessage, now: number): Signed<Session>
  signOut(request: IncomingMessage, now: number): Signed<{ readonly ended: true }>
  /** Ends a session or a link: in another process, its own. */
  forget(value: string, now: number): void
}

export interface DoorOptions {
  readonly tokens: Tokens
  /** The folder where it is kept who signed out; absent: in memory. */
  readonly dataDir?: string | undefined
  /** That cannot be written. */
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Hears of each wrong token, with the address that sent it, and whether it is one of the few to write down. */
  readonly onWrong?: ((address: string, isNoted: boolean) => void) | undefined
}

/** Opens the door of the admin listener: there is no way in but a token, or what was made with one. */
export function openDoor({ tokens, dataDir, onFault = () => {}, onWrong = () => {} }: DoorOptions): Door {
  const ended: Ended = openEnded(dataDir, onFault)
  const sessions = createSessions(sessionKey(tokens), ended)
  const [wrong, calls, signIns] = [createRate(WRONG), createRate(CALLS), createRate(SIGN_INS)]
  const [allWrong, noted] = [createRate(ALL_WRONG), createRate(NOTED)]

  /** Counts a wrong one. Throws `rate_limit_exceeded` after too many; a right one was taken before it comes to this. */
  function countWrong({ socket: { remoteAddress = '' } }: IncomingMessage, now: number): void {
    onWrong(remoteAddress, noted.take('', now) === 0)
    limit(wrong.take(clientKey(remoteAddress, 64).narrow, now) || allWrong.take('', now))
  }

  function refuse(request: IncomingMessage, now: number, message: string): never {
    countWrong(request, now)
    throw new SallyportError('unauthorized', message)
  }

  function admit(request: IncomingMessage, now: number): Visitor {
    const { isBadToken, ...visitor } = findVisitor(request, { tokens, sessions, now })
    if (isBadToken) refuse(request, now, 'This token is not known.')
    if (visitor.role !== undefined) limit(calls.take(nameReader(request, visitor), now))
    if (visitor.by !== 'token') requireOwnPage(request)
    return visitor
  }

  function openedBy(request: IncomingMessage, now: number): OpenedSession {
    const code = shownIn(request, 'Link')
    if (code === undefined) {
      const { by, role } = admit(request, now)
      if (by !== 'token' || role === undefined) throw new SallyportError('unauthorized', TOKEN_NEEDED)
      limit(signIns.take(role, now))
      return sessions.open(role, now)
    }
    requireOwnPage(request)
    return sessions.redeem(code, now) ?? refuse(request, now, LINK_USED)
  }

  return {
    admit,
    permits(request, role, now = Date.now()) {
      const { isBadToken, ...visitor } = findVisitor(request, { tokens, sessions, now })
      if (isBadToken) countWrong(request, now)
      if (visitor.role === undefined || (visitor.by === 'session' && !isFromOwnPage(request))) return false
      return includes(visitor.role, role)
    },
    signIn(request, now) {
      const { value, session } = openedBy(request, now)
      const age = Math.floor((session.until - now) / 1_000)
      const visitor = { ...session, by: 'session', session: value } as const
      return { visitor, body: session, setCookie: `${COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${age}` }
    },
    signOut(request, now) {
      const visitor = admit(request, now)
      if (visitor.session !== undefined) sessions.end(visitor.session, now)
      return { visitor, body: { ended: true }, setCookie: `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0` }
    },
    forget: sessions.end,
  }
}

/**
 * A link to the page that signs a browser in as a reader, once within an hour: its code is behind the `#`. `url` is that
 * of the admin listener; where that listens on every address, the link names this machine.
 */
export function signInLink(tokens: Tokens, url: string, now: number = Date.now()): string {
  const here = url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1')
  return `${here}/#sign-in=${linkCode(sessionKey(tokens), now)}`
}

/** Fields by which a command reads: with the token for readers, else a session of a minute, and never a token that changes things. */
export function readerFields(tokens: Tokens, now: number = Date.now()): Readonly<Record<string, string>> {
  if (tokens.read !== undefined) return { authorization: `Bearer ${tokens.read}` }
  return { cookie: `${COOKIE}=${readerSession(sessionKey(tokens), now)}` }
}

const TOKEN_NEEDED = 'The console needs a token: Authorization: Bearer <TOKEN>.'
const LINK_USED = 'This link was used, or its hour is over: `sallyport console` prints another.'

/** Throws `unauthorized` or `forbidden` for somebody who may not do what needs a role. */
export function requireRole(role: Role | 'anyone', visitor: Visitor): void {
  if (role === 'anyone' || includes(visitor.role, role)) return
  if (visitor.role === undefined) throw new SallyportError('unauthorized', TOKEN_NEEDED)
  throw new SallyportError('forbidden')
}

/** Returns what is counted as one reader: a session, or those who use a token from one address. */
export function nameReader({ socket }: IncomingMessage, { role, session }: Visitor): string {
  return session ?? `${role} ${socket.remoteAddress}`
}

/** A page of another site can make a browser send requests, and what it has kept for this one goes with them. */
function isFromOwnPage(request: IncomingMessage): boolean {
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  return isOwnPage(request) && (isReading || request.headers[OWN_FIELD] === '1')
}

function requireOwnPage(request: IncomingMessage): void {
  if (isFromOwnPage(request)) return
  throw new SallyportError('forbidden', "This comes from a page that is not the console's own.")
}

function limit(seconds: number): void {
  if (seconds > 0) throw new SallyportError('rate_limit_exceeded', undefined, { retryAfter: seconds })
}
