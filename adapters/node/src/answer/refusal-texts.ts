import texts from './refusal-texts.json' with { type: 'json' }

/** Text for a refused visitor. */
export interface RefusalText {
  readonly title: string
  readonly text: string
}

/** Says why a visitor sees our page, as far as a visitor needs to know. */
export type RefusalKind = 'blocked' | 'offered' | 'missing' | 'limited' | 'busy' | 'unreachable' | 'large' | 'invalid'

/** The texts that a language needs. */
export type RefusalTexts = Readonly<Record<RefusalKind, RefusalText>> & {
  /** Stands before the request's id. */
  readonly reference: string
  /** Stands before the site's contact. */
  readonly contact: string
  /** Advises a visitor of a site that names no contact. */
  readonly mistake: string
  /** Is the title of a page that a law blocks for a visitor (RFC 7725). */
  readonly legal: string
}

/** Returns the kind of refusal that an HTTP status means. */
export function refusalKind(status: number): RefusalKind {
  if (status === 403 || status === 401 || status === 451) return 'blocked'
  if (status === 402) return 'offered'
  if (status === 404) return 'missing'
  if (status === 413 || status === 414 || status === 431) return 'large'
  if (status === 429) return 'limited'
  if (status === 503) return 'busy'
  return status >= 500 ? 'unreachable' : 'invalid'
}

/** Holds the texts by language (BCP 47). A browser that reads none of these languages gets the first. */
export const REFUSAL_TEXTS: Readonly<Record<string, RefusalTexts>> = texts
