import type { WhoisField } from '@sallyport/data/whois-formats'
import { fieldOf, isContact, namesRegistrar } from './labels.ts'
import { type Line, labelKey } from './lines.ts'
import { hostsIn, isAddressLike } from './values.ts'

/** The lines below a heading. */
export interface Section {
  readonly kind: WhoisField | 'contact'
  readonly heading: string
  readonly indent: number
  /** Opened by a label with a value that continues on indented lines. */
  readonly continued: boolean
  /** Its lines need not be indented: `[Tech-C]`, or an RPSL object. */
  readonly flat: boolean
  /** A line of the section was seen. */
  readonly fed: boolean
  /** A line that is indented more than the heading was seen. */
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

/** Fields of a person's record as well as of a domain's. */
const OF_PEOPLE_TOO: ReadonlySet<WhoisField> = new Set(['registeredOn', 'lastUpdated', 'domain', 'status'])

/** The section that a line opens, being a label without a value or a known label alone. */
export function sectionOf(line: Line, afterBlank: boolean): Section | undefined {
  const bare = line.label === '' && line.value === line.text
  const heading = bare ? labelKey(line.text) : line.label
  const empty = bare || line.value === ''
  const object = afterBlank && OBJECTS.has(heading)
  const flat = line.text.startsWith('[') || object
  const kind = isContact(heading) && (empty || object) ? 'contact' : empty ? fieldOf(heading) : undefined
  return kind === undefined ? undefined : openSection(kind, heading, line.indent, { flat })
}

/** Continuation of a label with a value: more lines of it, or the object of the registrar whose handle it is. */
export function continuationOf({ label, indent }: Line, field: WhoisField, afterBlank: boolean): Section | undefined {
  if (field === 'nameservers' || field === 'status') return openSection(field, label, indent, { continued: true })
  return field === 'registrar' && afterBlank ? openSection(field, label, indent, {}) : undefined
}

/** Whether a line is part of a section; where it is not, the section has ended. */
export function belongsTo(line: Line, section: Section): boolean {
  const field = fieldOf(line.label)
  if (section.continued) {
    // An IPv6 address after a server's name looks like a label with a colon.
    const further = section.kind === 'nameservers' ? field === undefined : line.label === ''
    return further && (line.indent > section.indent || (section.kind === 'nameservers' && isHostAlone(line.text)))
  }
  if (section.kind !== 'contact') {
    return field === undefined || (section.kind === 'registrar' && namesRegistrar(line.label))
  }
  if (line.indent > section.indent) return true
  if (section.nested || isContact(line.label)) return false
  return field === undefined ? fieldOf(labelKey(line.text)) === undefined : section.flat && OF_PEOPLE_TOO.has(field)
}

/** Whether a line has nothing but a server's name and addresses: it goes on with the servers before it wherever it begins. */
function isHostAlone(text: string): boolean {
  const [name = '', ...rest] = text.slice(0, 300).split(/[\s,]+/)
  return hostsIn(name).length === 1 && rest.every(isAddressLike)
}

function openSection(
  kind: Section['kind'],
  heading: string,
  indent: number,
  {
    continued = false,
    flat = false,
  }: { readonly continued?: boolean | undefined; readonly flat?: boolean | undefined },
): Section {
  return { kind, heading, indent, continued, flat, fed: false, nested: false }
}
