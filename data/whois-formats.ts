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
  /** Codes of RFC 5731 section 2.3 and RFC 3915 section 3.1, and those that registries add to them. */
  readonly codes: readonly string[]
  /** Labels of the lines of a postal address, among which a `state` is a province. */
  readonly address: readonly string[]
  /** Patterns of sentences in the form that packages/engine/src/whois/wordings.ts gives them, by the state that they mean. `elsewhere`: not this server's to say. */
  readonly wordings: Readonly<Record<'elsewhere' | 'free' | 'reserved' | 'throttled', readonly string[]>>
  /** Values of a status label that say the same. */
  readonly statuses: Readonly<Record<'free' | 'reserved', readonly string[]>>
  readonly privacy: { readonly source: string; readonly contains: readonly string[] }
}

export const WHOIS_FORMATS: WhoisFormats = formats
