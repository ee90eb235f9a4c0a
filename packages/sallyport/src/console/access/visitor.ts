import type { IncomingMessage } from 'node:http'
import { parseUrl } from '@sallyport/core'
import type { Sessions } from './sessions.ts'
import { findRole, type Role, type Tokens } from './tokens.ts'

export const COOKIE = 'sallyport-console'
/** No page of another site can send this field without a preflight request. */
export const OWN_FIELD = 'x-sallyport-console'

/** Describes who visits the console. */
export interface Visitor {
  /** Absent: the visitor is unknown. */
  readonly role?: Role | undefined
  readonly by: 'session' | 'token' | 'nothing'
  /** The session is valid until then, in milliseconds since the epoch. */
  readonly until?: number | undefined
  /** Holds the session as it was sent. */
  readonly session?: string | undefined
}

/** Finds the visitor of a request; a token takes precedence over a session. `isBadToken`: the request shows an unknown token. */
export function findVisitor(
  request: IncomingMessage,
  { tokens, sessions, now }: { readonly tokens: Tokens; readonly sessions: Sessions; readonly now: number },
): Visitor & { readonly isBadToken: boolean } {
  const token = shownIn(request, 'Bearer')
  if (token !== undefined) {
    const role = findRole(tokens, token)
    return role === undefined ? { by: 'nothing', isBadToken: true } : { role, by: 'token', isBadToken: false }
  }
  for (const value of listCookies(request)) {
    const session = sessions.read(value, now)
    if (session !== undefined) return { ...session, by: 'session', session: value, isBadToken: false }
  }
  return { by: 'nothing', isBadToken: false }
}

/** Returns what `Authorization` shows: a token as `Bearer`, the code of a link as `Link`. */
export function shownIn({ headers }: IncomingMessage, scheme: 'Bearer' | 'Link'): string | undefined {
  const [, named, shown] = /^(\w{1,20}) ([\x21-\x7e]{1,512})$/.exec(headers.authorization ?? '') ?? []
  return named?.toLowerCase() === scheme.toLowerCase() ? shown : undefined
}

/** Reports whether a page of the console made a browser's request. */
export function isOwnPage({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  const from = parseUrl(origin)
  return from !== undefined && from.host === host
}

/** Lists all cookies with the name: a browser shares the cookies of all ports of a host, and another port may have set one too. */
function listCookies({ headers }: IncomingMessage): readonly string[] {
  return (headers.cookie ?? '').split(';').flatMap((pair) => {
    const [name, value = ''] = pair.trim().split('=', 2)
    return name === COOKIE ? [value] : []
  })
}
