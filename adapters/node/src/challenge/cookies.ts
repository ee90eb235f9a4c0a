import { CHALLENGE_COOKIES, cookiesOf, isNamed, PASS_COOKIES } from '@sallyport/core/host'
import type { ReceivedHead } from '../request/inspection-request.ts'
import type { RequestHost } from '../request/request-host.ts'

/** The cookie of a pass, as `Set-Cookie` has it. */
export function passCookie(host: RequestHost, head: ReceivedHead, value: string, maxAge: number): string {
  return setCookie(PASS_COOKIES[isSecure(host, head) ? 0 : 1], value, maxAge)
}

/** Kept for longer than a challenge can be answered: that it comes back says that cookies do. Seconds. */
const CHALLENGE_AGE = 3_600

/** The cookie of a challenge that is waited for. */
export function challengeCookie(host: RequestHost, head: ReceivedHead, value: string): string {
  return setCookie(CHALLENGE_COOKIES[isSecure(host, head) ? 0 : 1], value, CHALLENGE_AGE)
}

/** Whether a request brings a challenge, whatever it is worth. */
export function bringsChallenge({ fields }: ReceivedHead): boolean {
  return cookiesOf(fields, CHALLENGE_COOKIES, 1).length > 0
}

/**
 * Clears the cookie of a challenge that is of no use any more: of that challenge, or of any. Empty where the request did
 * not bring it: another tab may wait for another one.
 */
export function clearedCookie({ fields }: ReceivedHead, challenge?: string): Readonly<Record<string, string>> {
  for (const name of CHALLENGE_COOKIES) {
    const [value] = cookiesOf(fields, [name], 1)
    if (value === undefined || (challenge !== undefined && value !== challenge)) continue
    return { 'set-cookie': setCookie(name, '', 0) }
  }
  return {}
}

function setCookie(name: string, value: string, maxAge: number): string {
  const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`
  return `${name}=${value}; ${attributes}${name.startsWith('__Host-') ? '; Secure' : ''}`
}

/** Whether the client came over TLS, as the socket or a trusted proxy says. */
function isSecure(host: RequestHost, { scheme, peer, fields }: ReceivedHead): boolean {
  if (scheme === 'https' || host.isTrusted?.(peer) !== true) return scheme === 'https'
  return fields.some((name, at) => at % 2 === 0 && isNamed(name, 'x-forwarded-proto') && fields[at + 1] === 'https')
}
