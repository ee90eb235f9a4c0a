import { WHOIS_FORMATS, type WhoisField } from '@sallyport/data/whois-formats'

const FIELDS: ReadonlyMap<string, WhoisField> = new Map(
  WHOIS_FORMATS.families.flatMap(({ labels }) => [
    ...pairs('domain', labels.domain),
    ...pairs('registrar', labels.registrar),
    ...pairs('registeredOn', labels.registeredOn),
    ...pairs('expiresOn', labels.expiresOn),
    ...pairs('lastUpdated', labels.lastUpdated),
    ...pairs('nameservers', labels.nameservers),
    ...pairs('status', labels.status),
  ]),
)
const CONTACTS: ReadonlySet<string> = new Set(WHOIS_FORMATS.contacts)
const REGISTRAR_FIELDS: ReadonlySet<string> = new Set(WHOIS_FORMATS.registrarFields)

/** What a label, in the form of `labelKey`, stands for. */
export function fieldOf(label: string): WhoisField | undefined {
  return FIELDS.get(label)
}

/** A heading of a section about a person. */
export function isContact(label: string): boolean {
  return CONTACTS.has(label)
}

/** A label that names the registrar where it stands in the registrar's own section. */
export function namesRegistrar(label: string): boolean {
  return REGISTRAR_FIELDS.has(label)
}

/** A label of the one the domain belongs to. */
export function isRegistrant(label: string): boolean {
  return /^(?:registrant|owner|holder|titular|person$|domain owners|domain registrant)/.test(label)
}

function pairs(field: WhoisField, labels: readonly string[] = []): readonly (readonly [string, WhoisField])[] {
  return labels.map((label) => [label, field])
}
