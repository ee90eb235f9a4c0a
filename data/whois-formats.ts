import formats from './whois-formats.json' with { type: 'json' }

/** Members of a WHOIS record that a label can stand for. */
export type WhoisField =
  | 'domain'
  | 'registrar'
  | 'registeredOn'
  | 'expiresOn'
  | 'lastUpdated'
  | 'nameservers'
  | 'status'

/** How the answers of one family of registries are written. Labels are in the form that `labelKey` of packages/engine/src/whois gives. */
export interface WhoisFamily {
  readonly family: string
  readonly note: string
  readonly labels: Readonly<Partial<Record<WhoisField, readonly string[]>>>
}

/** The form of port-43 answers: labels by family, section headings of people, and the phrases that say a state. */
export interface WhoisFormats {
  readonly source: string
  readonly date: string
  readonly families: readonly WhoisFamily[]
  /** Labels that name the registrar within a section headed by it. */
  readonly registrarFields: readonly string[]
  /** Headings of sections about people, where dates and names are theirs and not the domain's. */
  readonly contacts: readonly string[]
  /** Stems of words for labels that no family lists, because lists of labels never end. A space marks the end of a word. */
  readonly guesses: {
    readonly note: string
    /** Stems by the date that they name; the first field that has one counts. */
    readonly dates: Readonly<Record<'expiresOn' | 'lastUpdated' | 'registeredOn', readonly string[]>>
    /** Stems of dates of other things: of a person's record, of a transfer, of the database. */
    readonly otherDates: readonly string[]
    readonly server: readonly string[]
    readonly noServer: readonly string[]
    readonly registrar: readonly string[]
    /** In labels about a registrar that are not followed by its name. */
    readonly noRegistrar: readonly string[]
  }
  /** Codes of RFC 5731 section 2.3 and RFC 3915 section 3.1, and those that registries add to them. */
  readonly codes: readonly string[]
  /** Labels of the lines of a postal address, among which a `state` is a province. */
  readonly address: readonly string[]
  /** Starts of lines, lower case, a quoted or bare domain name written as `@`; with `$` the whole line. `elsewhere`: not this server's to say. */
  readonly phrases: Readonly<Record<'elsewhere' | 'free' | 'reserved' | 'throttled', readonly string[]>>
  /** Patterns for the form of a line that phrases have, for answers that no phrase matches. */
  readonly wordings: Readonly<Record<'free' | 'reserved' | 'throttled', readonly string[]>>
  /** Values of a status label that say the same. */
  readonly statuses: Readonly<Record<'free' | 'reserved', readonly string[]>>
  readonly privacy: { readonly source: string; readonly contains: readonly string[] }
}

export const WHOIS_FORMATS: WhoisFormats = formats
