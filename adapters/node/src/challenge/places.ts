import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { ApiResponse } from '@sallyport/engine'
import { valuesOf } from '../request/accept.ts'
import { readHead, siteOf } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { ChallengePage, RequestHost } from '../request/request-host.ts'
import { passScript } from './pass-script.ts'

export const PAGE: ChallengePage = { path: '/.sallyport' }

/**
 * The place that a GET names: the script of applications, or the page that is shown on purpose. Monitor mode answers nothing of a
 * challenge, so that such a path is one of the application's.
 */
export function findPlace({ config, challenges }: RequestHost, head: ReceivedHead): 'script' | 'page' | undefined {
  const { method, target } = head
  if (challenges === undefined || config?.mode === 'monitor' || (method !== 'GET' && method !== 'HEAD'))
    return undefined
  const { path } = config?.challenge ?? PAGE
  if (!target.includes(path)) return undefined
  const [asked] = withoutOrigin(target).split('?', 1)
  if (asked === `${path}/pass.js`) return 'script'
  return asked === `${path}/pass` ? 'page' : undefined
}

/**
 * The request that is decided about. A request for the page of a challenge is decided as a request for `for`, or else for `to`, so
 * that the page asks by the rules of that path. Only a GET is counted there: a form is counted when it is sent.
 */
export function wantedRequest(
  host: RequestHost,
  head: ReceivedHead,
): { readonly head: ReceivedHead; readonly counts: boolean } {
  if (findPlace(host, head) !== 'page') return { head, counts: true }
  const query = queryOf(head)
  const method = query.get('method') ?? 'GET'
  const isGet = !/^(?:POST|PUT|PATCH|DELETE)$/.test(method)
  const target = returnPath(host, query.get('for') ?? query.get('to') ?? '')
  return { head: { ...head, method: isGet ? 'GET' : method, target }, counts: isGet }
}

/** The path of this site that the page returns to, with its query. */
export function wantedPath(host: RequestHost, head: ReceivedHead): string {
  return returnPath(host, queryOf(head).get('to') ?? '')
}

/** The page that has the form which a request sends, as far as the browser says. */
export function formPath(host: RequestHost, { fields }: ReceivedHead): string {
  const named = readHead(fields)
  if (named.referer === undefined || !URL.canParse(named.referer)) return '/'
  const referer = new URL(named.referer)
  // Servers in front may name the Host without its port.
  const site = `http://${siteOf(named) ?? ''}`
  const isOurs = URL.canParse(site) && new URL(site).hostname === referer.hostname
  return isOurs ? returnPath(host, referer.pathname + referer.search) : '/'
}

/** Browsers read a backslash as a slash, and skip control characters: two slashes would name another host. */
const SITE_PATH = /^\/(?!\/)[^\\\p{Cc}]*$/u
const MAX_PATH = 2_048

function returnPath({ config }: RequestHost, text: string): string {
  const [path = ''] = text.split('#', 1)
  const [asked = ''] = path.split('?', 1)
  const isOurs = asked === `${(config?.challenge ?? PAGE).path}/pass`
  if (path.length > MAX_PATH || !SITE_PATH.test(path) || asked.includes('//') || isOurs) return '/'
  return path.replace(/[^!-~]/gu, encodeURIComponent)
}

function queryOf({ target }: ReceivedHead): URLSearchParams {
  const at = target.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : target.slice(at + 1))
}

function withoutOrigin(target: string): string {
  return target.replace(/^https?:\/\/[^/?]*/i, '')
}

/** `pass.js`. It is the same for everybody until the next release. */
export function scriptAnswer({ config }: RequestHost, { fields }: ReceivedHead): ApiResponse {
  const script = passScript((config?.challenge ?? PAGE).path)
  const etag = `"${createHash('sha256').update(script).digest('base64url').slice(0, 16)}"`
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=3600',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
    etag,
  }
  if (valuesOf(fields, 'if-none-match').includes(etag.toLowerCase())) return { status: 304, headers, body: '' }
  const isPacked = /\bgzip\b(?!;q=0(?:\.0*)?(?:,|$))/.test(valuesOf(fields, 'accept-encoding').replaceAll(' ', ''))
  if (!isPacked) return { status: 200, headers, body: script }
  return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(script, { level: 9 }) }
}
