import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { parseUrl } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { joinValues } from '../request/accept.ts'
import { readHead, readSite } from '../request/head-fields.ts'
import { splitTarget } from '../request/mounted-path.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { ChallengePage, RequestHost } from '../request/request-host.ts'
import { fieldScript } from './field-script.ts'
import { passScript } from './pass-script.ts'

export const PAGE: ChallengePage = { path: '/.sallyport' }

/** Names the places below the path of challenges. */
const PLACES = { '/pass.js': 'script', '/pass': 'page', '/field.js': 'field script', '/field': 'field' } as const
export type ChallengePlace = (typeof PLACES)[keyof typeof PLACES]

/** Finds the place that a GET names. In monitor mode the path belongs to the application, but for the places of forms. */
export function findPlace({ config, challenges }: RequestHost, head: ReceivedHead): ChallengePlace | undefined {
  const { method, target } = head
  if (challenges === undefined || (method !== 'GET' && method !== 'HEAD')) return undefined
  const { path } = config?.challenge ?? PAGE
  if (!target.includes(path)) return undefined
  const [asked = ''] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)
  const place = asked.startsWith(path) ? PLACES[asked.slice(path.length) as keyof typeof PLACES] : undefined
  return config?.mode === 'monitor' && !isOfForms(place) ? undefined : place
}

/** Reports whether a place belongs to the field of forms. */
export function isOfForms(place: ChallengePlace | undefined): boolean {
  return place === 'field' || place === 'field script'
}

/**
 * Returns the request to decide about where the challenge page is requested: a request for `for`, or else for `to`, so that the rules of
 * that path apply. Rules count only a GET there: a form counts when it is sent.
 */
export function wantedRequest(
  host: RequestHost,
  head: ReceivedHead,
): { readonly head: ReceivedHead; readonly counts: boolean } {
  const { query } = splitTarget(head.target)
  const method = query.get('method') ?? 'GET'
  const isGet = !/^(?:POST|PUT|PATCH|DELETE)$/.test(method)
  const target = returnPath(host, query.get('for') ?? query.get('to') ?? '')
  return { head: { ...head, method: isGet ? 'GET' : method, target }, counts: isGet }
}

/** Returns the path of this site to which the page leads back, with its query. */
export function wantedPath(host: RequestHost, head: ReceivedHead): string {
  return returnPath(host, splitTarget(head.target).query.get('to') ?? '')
}

/** Returns the path of the page whose form a request sends, as far as the browser names it. */
export function formPath(host: RequestHost, { fields }: ReceivedHead): string {
  const named = readHead(fields)
  const referer = parseUrl(named.referer ?? '')
  // A server in front may drop the port from Host.
  const site = parseUrl(`http://${readSite(named) ?? ''}`)
  return referer !== undefined && site?.hostname === referer.hostname
    ? returnPath(host, referer.pathname + referer.search)
    : '/'
}

/** Matches a path of this site. Browsers read a backslash as a slash, and skip control characters: two slashes would name another host. */
const SITE_PATH = /^\/(?!\/)[^\\\p{Cc}]*$/u
const MAX_PATH = 2_048

function returnPath({ config }: RequestHost, text: string): string {
  const [path = ''] = text.split('#', 1)
  const [asked = ''] = path.split('?', 1)
  const isOurs = asked === `${(config?.challenge ?? PAGE).path}/pass`
  if (path.length > MAX_PATH || !SITE_PATH.test(path) || asked.includes('//') || isOurs) return '/'
  return path.replace(/[^!-~]/gu, encodeURIComponent)
}

/** Answers `pass.js` and `field.js`, which stay the same for all clients until the next release. */
export function scriptAnswer(
  { config }: RequestHost,
  { fields }: ReceivedHead,
  place: 'script' | 'field script',
): ApiResponse {
  const write = place === 'script' ? passScript : fieldScript
  const script = write((config?.challenge ?? PAGE).path)
  const etag = `"${createHash('sha256').update(script).digest('base64url').slice(0, 16)}"`
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=3600',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
    etag,
  }
  if (joinValues(fields, 'if-none-match').includes(etag.toLowerCase())) return { status: 304, headers, body: '' }
  const isPacked = /\bgzip\b(?!;q=0(?:\.0*)?(?:,|$))/.test(joinValues(fields, 'accept-encoding').replaceAll(' ', ''))
  if (!isPacked) return { status: 200, headers, body: script }
  return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(script, { level: 9 }) }
}
