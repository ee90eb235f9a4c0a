import { formOf } from '../request/accept.ts'
import { fieldOf } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/inspection-request.ts'

/** How a request is asked: with a page, with a page that cannot repeat what was sent, or in words for programs. */
export type AskedAs = 'page' | 'form' | 'program'

/**
 * A page is for who looks at it: a navigation of a whole window (Fetch Metadata), or, where the browser does not say, who
 * is refused with a page too. Never for a picture, a script, a frame, or what is fetched before anybody wants it.
 */
export function askedAs({ method, fields }: ReceivedHead, isBrowser: () => boolean): AskedAs {
  const mode = fieldOf(fields, 'sec-fetch-mode')
  const destination = fieldOf(fields, 'sec-fetch-dest')
  if (mode !== undefined && mode !== 'navigate') return 'program'
  if (destination !== undefined && destination !== 'document') return 'program'
  for (const early of ['sec-purpose', 'purpose', 'x-moz']) {
    if (fieldOf(fields, early)?.toLowerCase().includes('prefetch')) return 'program'
  }
  if (formOf(fields, isBrowser) !== 'page') return 'program'
  return method === 'GET' || method === 'HEAD' ? 'page' : 'form'
}
