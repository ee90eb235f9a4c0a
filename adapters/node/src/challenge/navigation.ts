import { acceptsHtml, formOf, isShown, valuesOf } from '../request/accept.ts'
import type { ReceivedHead } from '../request/node-head.ts'

/** How a request is asked: with a page, with a page that cannot repeat what was sent, or in words for programs. */
export type AskedAs = 'page' | 'form' | 'program'

/** Fields of what is fetched before anybody wants it. */
const EARLY = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const

/** Frames say so, where browsers say anything. */
const FRAMES: readonly string[] = ['iframe', 'frame']

/** A navigation that a service worker passes on is empty. */
const SHOWN: readonly string[] = ['', 'document', 'empty']

/**
 * A page is for who looks at it: a navigation of a whole window (Fetch Metadata, which browsers send to https and loopback),
 * else who names HTML and no feed. Never for a picture, a script, or what is fetched before anybody wants
 * it, and for a frame only where its cookies come back.
 */
export function askedAs({ method, fields }: ReceivedHead, isBrowser: () => boolean, asksFrames = false): AskedAs {
  const within = valuesOf(fields, 'sec-fetch-dest')
  if (!isShown(fields) || !(SHOWN.includes(within) || (asksFrames && FRAMES.includes(within)))) return 'program'
  if (EARLY.some((name) => valuesOf(fields, name) !== '')) return 'program'
  if (/\b(?:rss|atom|feed)\b/.test(valuesOf(fields, 'accept'))) return 'program'
  if (!acceptsHtml(fields) && !isTextBrowser(fields, isBrowser)) return 'program'
  return method === 'GET' || method === 'HEAD' ? 'page' : 'form'
}

/** Browsers that accept anything, as NetSurf and Links do; the scripts and styles of the others' pages do so as well. */
function isTextBrowser(fields: readonly string[], isBrowser: () => boolean): boolean {
  const userAgent = valuesOf(fields, 'user-agent')
  const isOther = userAgent.startsWith('mozilla/') && !userAgent.includes('netsurf/')
  return !isOther && formOf(fields, isBrowser) === 'page' && isBrowser()
}
