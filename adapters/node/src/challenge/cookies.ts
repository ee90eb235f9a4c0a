import type { Decision } from '@sallyport/core'
import { CHALLENGE_COOKIES, findCookies, PASS_COOKIES } from '@sallyport/core/host'
import { joinValues } from '../request/accept.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { RequestHost } from '../request/request-host.ts'

/** Writes the cookie of a pass as a value of `Set-Cookie`. */
export function passCookie(host: RequestHost, head: ReceivedHead, value: string, maxAge: number): string {
  return setCookie(PASS_COOKIES[isSecure(host, head) ? 0 : 1], value, maxAge, cookieAttributes(host, head))
}

/** Destinations of pages and their scripts. Shared caches keep responses to the other parts of a page. */
const RENEWING: readonly string[] = ['', 'document', 'empty']

/** Returns the renewed cookie of the pass that a request brought; `undefined` where the pass is not renewed. */
export function renewedCookie(host: RequestHost, head: ReceivedHead, decision: Decision): string | undefined {
  const { pass } = decision.inspection
  if (
    pass === undefined ||
    decision.mode === 'monitor' ||
    !RENEWING.includes(joinValues(head.fields, 'sec-fetch-dest'))
  )
    return undefined
  const renewed = host.challenges?.renew(pass, head)
  return renewed && passCookie(host, head, renewed.pass, renewed.maxAge)
}

/** Outlasts every challenge: a challenge that comes back proves that the browser keeps cookies. In seconds. */
const CHALLENGE_AGE = 3_600

/** Writes the cookie of a challenge that waiting solves. */
export function challengeCookie(host: RequestHost, head: ReceivedHead, value: string): string {
  return setCookie(CHALLENGE_COOKIES[isSecure(host, head) ? 0 : 1], value, CHALLENGE_AGE, cookieAttributes(host, head))
}

/** Reports whether a request brings a challenge, valid or not. */
export function bringsChallenge(host: RequestHost, head: ReceivedHead): boolean {
  return findCookies(head.fields, CHALLENGE_COOKIES, 1, () => isSecure(host, head)).length > 0
}

/** Clears the cookie of this challenge, or of any. Empty where the request did not bring it: another tab may wait for another one. */
export function clearedCookie(
  host: RequestHost,
  head: ReceivedHead,
  challenge?: string,
): Readonly<Record<string, string>> {
  for (const name of CHALLENGE_COOKIES) {
    const [value] = findCookies(head.fields, [name], 1)
    if (value === undefined || (challenge !== undefined && value !== challenge)) continue
    return { 'set-cookie': setCookie(name, '', 0, cookieAttributes(host, head)) }
  }
  return {}
}

function setCookie(name: string, value: string, maxAge: number, site: string): string {
  const secure = name.startsWith('__Host-') && site === LAX ? '; Secure' : ''
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; ${site}${secure}`
}

const LAX = 'SameSite=Lax'

/** Returns the attributes that decide where a browser sends a cookie. Browsers keep a partitioned cookie only with all three. */
export function cookieAttributes(host: RequestHost, head: ReceivedHead): string {
  return isPartitioned(host, head) ? 'SameSite=None; Secure; Partitioned' : LAX
}

/** Reports whether browsers keep separate cookies for each site that shows this site in a frame. */
export function isPartitioned(host: RequestHost, head: ReceivedHead): boolean {
  return host.config?.challenge?.partitioned === true && isSecure(host, head)
}

/** Reports whether the client came over TLS: a trusted proxy decides, or else the socket. */
function isSecure(host: RequestHost, head: ReceivedHead): boolean {
  return (host.namedScheme?.(head) ?? head.scheme) === 'https'
}
