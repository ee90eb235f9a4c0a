import { acceptsHtml, chooseForm, isShown, joinValues } from '../request/accept.ts'
import type { ReceivedHead } from '../request/node-head.ts'

/** Says how a request is challenged: with a page, with a page that cannot repeat what was sent, or with JSON for programs. */
export type AskedAs = 'page' | 'form' | 'program'

/** Fields that browsers send with requests ahead of a visit. */
const EARLY = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const

/** Destinations of requests for frames, where browsers send Sec-Fetch-Dest. */
const FRAMES: readonly string[] = ['iframe', 'frame']

/** A service worker that passes a navigation on sends `empty`. */
const SHOWN: readonly string[] = ['', 'document', 'empty']

/**
 * Chooses how to challenge a request. A page needs a visitor who looks at it: a navigation of a whole window (Fetch Metadata, which
 * browsers send to https and loopback), else a request that accepts HTML and no feed. Pictures, scripts and prefetches never get a page,
 * and a frame gets it only where its cookies come back.
 */
export function askedAs({ method, fields }: ReceivedHead, isBrowser: () => boolean, asksFrames = false): AskedAs {
  const within = joinValues(fields, 'sec-fetch-dest')
  if (!isShown(fields) || !(SHOWN.includes(within) || (asksFrames && FRAMES.includes(within)))) return 'program'
  if (EARLY.some((name) => joinValues(fields, name) !== '')) return 'program'
  if (/\b(?:rss|atom|feed)\b/.test(joinValues(fields, 'accept'))) return 'program'
  if (!acceptsHtml(fields) && !isTextBrowser(fields, isBrowser)) return 'program'
  return method === 'GET' || method === 'HEAD' ? 'page' : 'form'
}

/** Reports whether a text browser asks: NetSurf and Links accept anything, but so do scripts and styles of other browsers. */
function isTextBrowser(fields: readonly string[], isBrowser: () => boolean): boolean {
  const userAgent = joinValues(fields, 'user-agent')
  const isOther = userAgent.startsWith('mozilla/') && !userAgent.includes('netsurf/')
  return !isOther && chooseForm(fields, isBrowser) === 'page' && isBrowser()
}
