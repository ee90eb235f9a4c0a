import type { Decision } from '@sallyport/core'
import { CHALLENGE_COOKIES, cookiesOf, PASS_COOKIES } from '@sallyport/core/host'
import { valuesOf } from '../request/accept.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { RequestHost } from '../request/request-host.ts'

/** The cookie of a pass, as `Set-Cookie` has it. */
export function passCookie(host: RequestHost, head: ReceivedHead, value: string, maxAge: number): string {
  return setCookie(PASS_COOKIES[isSecure(host, head) ? 0 : 1], value, maxAge, siteOf(host, head))
}

/** Destinations of pages and their scripts. Shared caches keep responses to the other parts of a page. */
const RENEWING: readonly string[] = ['', 'document', 'empty']

/** The cookie of the pass that a request brought, where it is renewed. */
export function renewedCookie(host: RequestHost, head: ReceivedHead, decision: Decision): string | undefined {
  const { pass } = decision.inspection
  if (pass === undefined || decision.mode === 'monitor' || !RENEWING.includes(valuesOf(head.fields, 'sec-fetch-dest')))
    return undefined
  const renewed = host.challenges?.renew(pass, head)
  return renewed && passCookie(host, head, renewed.pass, renewed.maxAge)
}

/** Kept for longer than a challenge can be answered: that it comes back says that cookies do. Seconds. */
const CHALLENGE_AGE = 3_600

/** The cookie of a challenge that is waited for. */
export function challengeCookie(host: RequestHost, head: ReceivedHead, value: string): string {
  return setCookie(CHALLENGE_COOKIES[isSecure(host, head) ? 0 : 1], value, CHALLENGE_AGE, siteOf(host, head))
}

/** Whether a request brings a challenge, whatever it is worth. */
export function bringsChallenge(host: RequestHost, head: ReceivedHead): boolean {
  return cookiesOf(head.fields, CHALLENGE_COOKIES, 1, () => isSecure(host, head)).length > 0
}

/**
 * Clears the cookie of a challenge that is of no use any more: of that challenge, or of any. Empty where the request did
 * not bring it: another tab may wait for another one.
 */
export function clearedCookie(
  host: RequestHost,
  head: ReceivedHead,
  challenge?: string,
): Readonly<Record<string, string>> {
  for (const name of CHALLENGE_COOKIES) {
    const [value] = cookiesOf(head.fields, [name], 1)
    if (value === undefined || (challenge !== undefined && value !== challenge)) continue
    return { 'set-cookie': setCookie(name, '', 0, siteOf(host, head)) }
  }
  return {}
}

function setCookie(name: string, value: string, maxAge: number, site: string): string {
  const secure = name.startsWith('__Host-') && site === LAX ? '; Secure' : ''
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; ${site}${secure}`
}

const LAX = 'SameSite=Lax'

/** The attributes of a cookie that say where it is sent: browsers keep a partitioned one only with all three. */
export function siteOf(host: RequestHost, head: ReceivedHead): string {
  return isPartitioned(host, head) ? 'SameSite=None; Secure; Partitioned' : LAX
}

/** Whether cookies are kept for each site that shows this one in a frame. */
export function isPartitioned(host: RequestHost, head: ReceivedHead): boolean {
  return host.config?.challenge?.partitioned === true && isSecure(host, head)
}

/** Whether the client came over TLS, as a trusted proxy says, or else the socket. */
function isSecure(host: RequestHost, head: ReceivedHead): boolean {
  return (host.namedScheme?.(head) ?? head.scheme) === 'https'
}
