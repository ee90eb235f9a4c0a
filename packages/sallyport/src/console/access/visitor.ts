import type { IncomingMessage } from 'node:http'
import type { Sessions } from './sessions.ts'
import { findRole, type Role, type Tokens } from './tokens.ts'

export const COOKIE = 'sallyport-console'
/** No page of another site can send it without being asked about first. */
export const OWN_FIELD = 'x-sallyport-console'

/** A visitor of the console. */
export interface Visitor {
  /** Absent: nobody that is known. */
  readonly role?: Role | undefined
  readonly by: 'session' | 'token' | 'nothing'
  /** When the session ends, milliseconds since the epoch. */
  readonly until?: number | undefined
  /** As it was sent. */
  readonly session?: string | undefined
}

/** The visitor of a request; a token beats a session. `isBadToken`: one was shown that is not known. */
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

/** Returns what is shown in `Authorization`: a token as `Bearer`, the code of a link as `Link`. */
export function shownIn({ headers }: IncomingMessage, scheme: 'Bearer' | 'Link'): string | undefined {
  const [, named, shown] = /^(\w{1,20}) ([\x21-\x7e]{1,512})$/.exec(headers.authorization ?? '') ?? []
  return named?.toLowerCase() === scheme.toLowerCase() ? shown : undefined
}

/** Whether a request of a browser was made by a page of the console's own. */
export function isOwnPage({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

/** All of the name: a browser keeps those of all ports of a host together, and another port may have set one too. */
function listCookies({ headers }: IncomingMessage): readonly string[] {
  return (headers.cookie ?? '').split(';').flatMap((pair) => {
    const [name, value = ''] = pair.trim().split('=', 2)
    return name === COOKIE ? [value] : []
  })
}
