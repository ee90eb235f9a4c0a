import { CHALLENGE_COOKIES, isNamed, PASS_COOKIES } from '@sallyport/core/host'
import type { ReceivedHead } from '../request/inspection-request.ts'
import type { RequestHost } from '../request/request-host.ts'

/** The cookie of a pass, as `Set-Cookie` has it. */
export function passCookie(host: RequestHost, head: ReceivedHead, value: string, maxAge: number): string {
  return cookieOf(PASS_COOKIES, host, head, value, maxAge)
}

/** The cookie of a challenge that is waited for. */
export function challengeCookie(host: RequestHost, head: ReceivedHead, value: string, maxAge: number): string {
  return cookieOf(CHALLENGE_COOKIES, host, head, value, maxAge)
}

function cookieOf(
  [ofHost, plain]: readonly [string, string],
  host: RequestHost,
  head: ReceivedHead,
  value: string,
  maxAge: number,
): string {
  const secure = isSecure(host, head)
  const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`
  return secure ? `${ofHost}=${value}; ${attributes}; Secure` : `${plain}=${value}; ${attributes}`
}

/** Whether the client came over TLS, as the socket or a trusted proxy says. */
function isSecure(host: RequestHost, { scheme, peer, fields }: ReceivedHead): boolean {
  if (scheme === 'https' || host.isTrusted?.(peer) !== true) return scheme === 'https'
  return fields.some((name, at) => at % 2 === 0 && isNamed(name, 'x-forwarded-proto') && fields[at + 1] === 'https')
}
