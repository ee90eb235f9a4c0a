import { WHOIS_FORMATS, type WhoisField } from '@sallyport/data/whois-formats'

const FIELDS: ReadonlyMap<string, WhoisField> = new Map(
  WHOIS_FORMATS.families
    .flatMap(({ labels }) => Object.entries(labels))
    .flatMap(([field, labels]) => labels.map((label) => [label, field as WhoisField] as const)),
)
/** Holds the headings of sections about people. */
export const CONTACTS: ReadonlySet<string> = new Set(WHOIS_FORMATS.contacts)
/** Holds the labels of the lines of a postal address. */
export const ADDRESS_PARTS: ReadonlySet<string> = new Set(WHOIS_FORMATS.address)
/** Holds the labels of the registrar's own section that its name follows. */
export const REGISTRAR_NAMES: ReadonlySet<string> = new Set(WHOIS_FORMATS.registrarFields)

/** The field that a label names. Labels here are in the form of `labelKey`. */
export function findField(label: string): WhoisField | undefined {
  return FIELDS.get(label)
}

/** Whether a label names the holder of the domain. */
export function isRegistrant(label: string): boolean {
  return /^(?:registrant|owner|holder|titular|person$|domain owners|domain registrant)/.test(label)
}

/** Whether a registrant's name is that of a privacy service, or a registry's word for a name that is not shown. */
export function isPrivacyName(name: string): boolean {
  const text = name.slice(0, 300).toLowerCase()
  return WHOIS_FORMATS.privacy.contains.some((part) => text.includes(part))
}
