import type { WhoisField } from '@sallyport/data/whois-formats'
import { CONTACTS, findField, REGISTRAR_NAMES } from './labels.ts'
import { type Line, labelKey } from './lines.ts'
import { hostsIn, isAddressLike } from './values.ts'

/** Describes the lines below a heading. */
export interface Section {
  readonly kind: WhoisField | 'contact'
  readonly heading: string
  readonly indent: number
  /** True if a label with a value opened the section, which continues on indented lines. */
  readonly continued: boolean
  /** Lines of a flat section need not be indented: `[Tech-C]`, or an RPSL object. */
  readonly flat: boolean
  /** True if a line of the section was seen. */
  readonly fed: boolean
  /** True if a line was seen that is indented more than the heading. */
  readonly nested: boolean
}

/** First labels of RPSL objects about people; unlike headings they have values. */
const OBJECTS: ReadonlySet<string> = new Set([
  'person',
  'role',
  'contact',
  'contact type',
  'nic hdl',
  'nic hdl br',
  'organisation',
])

/** These fields occur in a person's record as well as in a domain's. */
const OF_PEOPLE_TOO: ReadonlySet<WhoisField> = new Set(['registeredOn', 'lastUpdated', 'domain', 'status'])

/** Returns the section that a line opens: the line is a label without a value, or a known label alone. */
export function readSection(line: Line, afterBlank: boolean): Section | undefined {
  const bare = line.label === '' && line.value === line.text
  const heading = bare ? labelKey(line.text) : line.label
  const empty = bare || line.value === ''
  const object = afterBlank && OBJECTS.has(heading)
  const flat = line.text.startsWith('[') || object
  const kind = CONTACTS.has(heading) && (empty || object) ? 'contact' : empty ? findField(heading) : undefined
  return kind === undefined ? undefined : openSection(kind, heading, line.indent, { flat })
}

/** Continues a label that has a value: with more lines of the value, or with the object of the registrar that the handle names. */
export function continueSection({ label, indent }: Line, field: WhoisField, afterBlank: boolean): Section | undefined {
  if (field === 'nameservers' || field === 'status') return openSection(field, label, indent, { continued: true })
  return field === 'registrar' && afterBlank ? openSection(field, label, indent, {}) : undefined
}

/** Reports whether a line is part of a section; any other line ends the section. */
export function belongsTo(line: Line, section: Section): boolean {
  const field = findField(line.label)
  if (section.continued) {
    // A server's name with an IPv6 address looks like a label and a value, so only a known label ends the section.
    const further = section.kind === 'nameservers' ? field === undefined : line.label === ''
    return further && (line.indent > section.indent || (section.kind === 'nameservers' && isHostAlone(line.text)))
  }
  if (section.kind !== 'contact') {
    return field === undefined || (section.kind === 'registrar' && REGISTRAR_NAMES.has(line.label))
  }
  if (line.indent > section.indent) return true
  if (section.nested || CONTACTS.has(line.label)) return false
  return field === undefined ? findField(labelKey(line.text)) === undefined : section.flat && OF_PEOPLE_TOO.has(field)
}

/** Reports whether a line has only a server's name and addresses: it continues the servers before it at any indent. */
function isHostAlone(text: string): boolean {
  const [name = '', ...rest] = text.slice(0, 300).split(/[\s,]+/)
  return hostsIn(name).length === 1 && rest.every(isAddressLike)
}

function openSection(
  kind: Section['kind'],
  heading: string,
  indent: number,
  more: Partial<Pick<Section, 'continued' | 'flat'>>,
): Section {
  return { kind, heading, indent, continued: false, flat: false, fed: false, nested: false, ...more }
}
