/** Holds the parts of a request and its response that count in a visit: only numbers, from which no path or name can be read. */
export interface RequestTraits {
  /** The response is a page, an own file of the site, which browsers load for a page, or says that the site has neither (404, 410). */
  readonly kind: 'page' | 'file' | 'missing' | 'other'
  /** The client asked whether its copy of a page or file is still good, or was told so. */
  readonly isConditional: boolean
  /** True for a page whose `Referer` has the same host. */
  readonly isReferred: boolean
  /** Bits of the names of the cookies, without ours, that the client sent with a page, and of those that the site set. */
  readonly sent: number
  readonly set: number
  /** Both are hashes: of the target, and of the names of a page's header fields in their order with the HTTP/2 window and JA4. */
  readonly path: number
  readonly wire: number
}

/** Holds what a described request says of its visit, which rules compare; absent members are 0. */
export type DescribedBehaviour = {
  readonly [Name in 'pagesWithoutFiles' | 'cookiesNotReturned' | 'differentPages']?: number | undefined
}

/** Says what a visitor has done in this visit, as rules and people read it. Absent for clients that have no behaviour. */
export interface InspectedBehaviour {
  /** Counts the pages that were answered before this request. */
  readonly pages: number
  /** Lists the signs against a person in its behaviour, by their ids. */
  readonly signs: readonly string[]
  /** Counts pages since the last own file of the site; 0 where people of the site load none either. */
  readonly pagesWithoutFiles: number
  /** Counts pages since the site set a cookie of which none came back; 0 where people of the site return none either. */
  readonly cookiesNotReturned: number
  /** Estimates how many pages were different. */
  readonly differentPages: number
  /** Names the group of clients that are like this one; absent where the visit shows nothing against a person. */
  readonly likeness?: string | undefined
  /** True where a client of the group held a pass in the last hour: its limits then challenge, and never refuse. Absent elsewhere. */
  readonly isMixed?: true | undefined
}
