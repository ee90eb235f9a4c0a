import table from './crawlers.json' with { type: 'json' }

export type CrawlerPurpose =
  | 'search'
  | 'training'
  | 'ai-search'
  | 'user-fetch'
  | 'agent'
  | 'preview'
  | 'seo'
  | 'monitor'
  | 'archive'
  | 'feed'
  | 'federation'
  | 'ads'
  | 'security'

/** One crawler or agent that says in its user agent who it is, and what its operator gives to check that by. */
export interface CrawlerRow {
  /** Stable name, as in the API's `bot` and in policies. */
  readonly slug: string
  readonly name: string
  readonly operator: string
  readonly purpose: CrawlerPurpose
  /** Words of the user agent; the case does not count. None: only a signature or the caller says who it is. */
  readonly tokens: readonly string[]
  /** `token-only`: a word for robots.txt that no request ever carries. `retired`: the operator sends it no more. */
  readonly status?: 'token-only' | 'retired' | undefined
  /** Reverse names of its addresses; `*` stands for the varying part, and the fixed rest is the operator's alone. */
  readonly names?: readonly string[] | undefined
  /** True where `names` was seen and no document of the operator promises it: such a name may confirm, never refute. */
  readonly undocumented?: true | undefined
  /**
   * True where the operator lets customers run it on machines of their own (private locations, a server of one's own) under
   * the same user agent: addresses may confirm, never refute.
   */
  readonly selfHosted?: true | undefined
  /**
   * People have an application that names itself by one of `tokens`: a user agent in the form of an application claims nothing by a
   * token that is no program's name. `native`: in Electron it does claim, because the operator's editor sends its
   * agent's requests in that form.
   */
  readonly application?: true | 'native' | undefined
  /** The list of published ranges it is in: several crawlers of one operator share one. */
  readonly ranges?: string | undefined
  /** Autonomous systems it was seen in. */
  readonly asns?: readonly number[] | undefined
  /** True where the operator alone uses every one of `asns`, so that they confirm and refute. */
  readonly exclusive?: true | undefined
  /**
   * Every autonomous system that the operator sends it from, all of them its own; others may send from them too. A name from
   * any other system is forged. Absent where it is not known, or the crawler runs on rented machines: then `exclusive` says it.
   */
  readonly systems?: readonly number[] | undefined
  /** The origin that has its Web Bot Auth key directory. */
  readonly agent?: string | undefined
  /** The page on which the operator describes it. */
  readonly docs?: string | undefined
  readonly note?: string | undefined
  /** Says where the row comes from: the operator's own page, or only public lists of names. */
  readonly source: 'operator' | 'public lists'
  /** Year and month in which the row was last looked at. */
  readonly date: string
}

/** Prefixes that an operator published and that have stood for long: they may confirm a claim, never refute one. */
export interface DatedRanges {
  /** A stable name; of a crawler's ranges a `ranges` of the catalogue. */
  readonly id: string
  /** The day the prefixes were true, YYYY-MM-DD. */
  readonly date: string
  /** Prefixes are CIDRs with host bits zero. */
  readonly prefixes: readonly string[]
}

/** AI agents were compared with ai.robots.txt (https://github.com/ai-robots-txt/ai.robots.txt, MIT); we judged their purposes. */
export const CRAWLERS: readonly CrawlerRow[] = table.crawlers as readonly CrawlerRow[]
export const DATED_RANGES: readonly DatedRanges[] = table.ranges
/** Prefixes of servers that are no crawlers: edges that fetch from origins. The id is the `provider` of the operator's own feeds. */
export const DATED_EDGES: readonly DatedRanges[] = table.edges
