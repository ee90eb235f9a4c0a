import table from './reverse-names.json' with { type: 'json' }

/**
 * The meaning of an address's reverse name. Only classes that make a verdict stricter are in here: the holder
 * of an address writes its name, so no name may make a client look cleaner.
 */
export interface ReverseNameRule {
  readonly networkClass: 'vpn' | 'tor'
  /** Is '' when the rule has no provider. */
  readonly provider: string
  /** The name is in this domain, or is it. */
  readonly domain?: string | undefined
  /** Some label of the name begins so. */
  readonly labelStart?: string | undefined
}

/** Year and month in which the rules were last looked at. */
export const REVERSE_NAMES_DATE: string = table.date

/** The rules, first to last; the file keeps the domains of a service in one text, separated by commas. */
export const REVERSE_NAME_RULES: readonly ReverseNameRule[] = [
  ...table.services.flatMap(({ provider, class: networkClass, domains }) =>
    domains
      .split(', ')
      .map((domain) => ({ networkClass: networkClass as ReverseNameRule['networkClass'], provider, domain })),
  ),
  ...table.labels.flatMap(({ class: networkClass, starts }) =>
    starts.split(', ').map((labelStart) => ({
      networkClass: networkClass as ReverseNameRule['networkClass'],
      provider: '',
      labelStart,
    })),
  ),
]

/**
 * The meaning of words in a reverse name for a network whose class is weaker. The same holds: none makes a client look
 * cleaner.
 */
export interface ReverseNameWords {
  readonly networkClass: 'hosting' | 'mobile'
  /** The classes that it may replace, or speak against. */
  readonly over: readonly ('unknown' | 'residential_clean')[]
  readonly words: readonly string[]
}

export const REVERSE_NAME_WORDS: readonly ReverseNameWords[] = table.words.map(
  ({ class: networkClass, over, words }) => ({
    networkClass: networkClass as ReverseNameWords['networkClass'],
    over: over.split(', ') as ReverseNameWords['over'][number][],
    words: words.split(', '),
  }),
)
