import type { IncomingMessage } from 'node:http'
import { FORWARDING_HEADERS } from '@sallyport/core'
import type { Sessions } from './sessions.ts'
import { type Role, roleOf, type Tokens } from './tokens.ts'

export const COOKIE = 'sallyport-console'
/** No page of another site can send it without being asked about first. */
export const OWN_FIELD = 'x-sallyport-console'

/** Who asks the console. */
export interface Visitor {
  /** Absent: nobody that is known. */
  readonly role?: Role
  /** `machine`: no secret was shown, and it comes from this machine. */
  readonly by: 'session' | 'token' | 'machine' | 'nothing'
  /** When the session ends, milliseconds since the epoch. */
  readonly until?: number
  /** As it was sent. */
  readonly session?: string
}

/** Whose role a request has; a token beats a session. `isBadToken`: one was shown that is not known. */
export function visitorOf(
  request: IncomingMessage,
  { tokens, sessions, now }: { readonly tokens: Tokens; readonly sessions: Sessions; readonly now: number },
): Visitor & { readonly isBadToken: boolean } {
  const token = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined) {
    const role = roleOf(tokens, token)
    return role === undefined ? { by: 'nothing', isBadToken: true } : { role, by: 'token', isBadToken: false }
  }
  const value = cookieOf(request)
  const session = value === undefined ? undefined : sessions.read(value, now)
  if (value !== undefined && session !== undefined) {
    return { ...session, by: 'session', session: value, isBadToken: false }
  }
  if (tokens.read === undefined && isFromThisMachine(request)) return { role: 'read', by: 'machine', isBadToken: false }
  return { by: 'nothing', isBadToken: false }
}

/** Whether a request of a browser was made by a page of the console's own. */
export function isOwnPage({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

/**
 * Whether it comes from this machine under a name of this machine: a name that a stranger points here is his page in
 * somebody's browser (DNS rebinding), and a forwarding field is a proxy that others reach.
 */
function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  if (!isLoopback(socket.remoteAddress ?? '')) return false
  if (FORWARDING_HEADERS.some((name) => headers[name] !== undefined)) return false
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(headers.host ?? '')
}

export function isLoopback(address: string): boolean {
  return /^(?:::ffff:)?127\./.test(address) || address === '::1'
}

function cookieOf({ headers }: IncomingMessage): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === COOKIE) return value
  }
  return undefined
}
