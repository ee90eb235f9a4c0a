import type { WhoisRecord } from '@sallyport/core'
import type { WhoisField } from '@sallyport/data/whois-formats'
import type { DateOrder } from './date-order.ts'
import { parseWhoisDate } from './dates.ts'
import { isPrivacyName } from './labels.ts'
import { buildRecord } from './record.ts'
import { hostsIn, isCode, parseStatuses } from './values.ts'

/** Collects a record while its answer is read. The first of several values counts: the domain's comes before a person's. */
export interface PartialRecord {
  readonly dateOrder: DateOrder
  domain?: string | undefined
  registrar?: string | undefined
  registeredOn?: string | undefined
  expiresOn?: string | undefined
  lastUpdated?: string | undefined
  readonly nameservers: string[]
  readonly status: string[]
  /** Texts about the registrant: the record only says whether they name a privacy service. */
  readonly registrant: string[]
}

export function emptyRecord(dateOrder: DateOrder): PartialRecord {
  return { dateOrder, nameservers: [], status: [], registrant: [] }
}

/** A list keeps at most this many entries. */
const MAX_ENTRIES = 64
const MAX_REGISTRAR_LENGTH = 200

/** Matches a registrar's handle; its name may follow in an object further down. */
const HANDLE = /^[A-Z\d]{1,32}-[A-Z\d]{1,32}$/

/** Reads a value of a field into the record. */
export function take(record: PartialRecord, field: WhoisField, value: string): void {
  switch (field) {
    case 'domain':
      takeDomain(record, value)
      break
    case 'nameservers':
      for (const host of hostsIn(value)) if (host !== record.domain) add(record.nameservers, host)
      break
    case 'status':
      takeStatus(record, value)
      break
    case 'registrar':
      if (!isProse(value)) record.registrar ??= readRegistrar(value)
      break
    case 'lastUpdated':
      takeChange(record, value)
      break
    default: {
      if (record[field] !== undefined) break
      const date = parseWhoisDate(value, record.dateOrder)
      if (date !== undefined) record[field] = date
    }
  }
}

/** Reads the name in the registrar's own section; it replaces the handle that the domain's section had. */
export function takeRegistrarName(record: PartialRecord, value: string): void {
  const name = readRegistrar(value)
  if (name !== undefined && (record.registrar === undefined || HANDLE.test(record.registrar))) record.registrar = name
}

export function completeRecord(record: PartialRecord): WhoisRecord {
  const { domain: _, dateOrder: _order, registrant, ...known } = record
  return buildRecord({ ...known, privacyProtection: registrant.some(isPrivacyName) })
}

function takeDomain(record: PartialRecord, value: string): void {
  const [name = '', is, ...words] = value.slice(0, 300).split(/\s+/, 4)
  const host = hostsIn(name)[0]
  if (host !== undefined) record.domain ??= host
  // Some registries write `EXAMPLE.TK is Active`.
  if (is === 'is') takeStatus(record, words.join(' '))
}

function takeStatus(record: PartialRecord, value: string): void {
  if (isProse(value)) return
  for (const status of parseStatuses(value)) add(record.status, status)
  // `Connected (2019/03/31)` and `OK-UNTIL 20190331120000` name the day on which the registration ends.
  const until = /\(([\d/]{8,10})\)|^ok-until (\d{8})/i.exec(value.slice(0, 100))
  if (until !== null) take(record, 'expiresOn', until[1] ?? until[2] ?? '')
}

/** A registry may list changes: `someone@example 20010203 (Assigned)`, later `20210203 (Changed)`. */
function takeChange(record: PartialRecord, value: string): void {
  const date = parseWhoisDate(value, record.dateOrder)
  const done = /\((assigned|changed)\)$/i.exec(value.slice(0, 200))?.[1]?.toLowerCase()
  if (date === undefined) return
  if (done === 'assigned') record.registeredOn ??= date
  else if (done === 'changed') record.lastUpdated = date
  else record.lastUpdated ??= date
}

function readRegistrar(value: string): string | undefined {
  const name = value
    .slice(0, MAX_REGISTRAR_LENGTH)
    .replace(/ ?\( ?(?:R\d+-[A-Z]+|https?:[^)]*)\)$/, '')
    .trim()
  return name === '' || /^no registrar listed\b/i.test(name) ? undefined : name
}

/** Words that connect others in a sentence; names of companies and codes have few of them. */
const BETWEEN: ReadonlySet<string> = new Set(
  'the this that is are was been be has have by to for from with which you your any not its may of in and or'.split(
    ' ',
  ),
)
const MAX_BETWEEN = 3
const MAX_NAME_WORDS = 8

/** Reports whether a value is a sentence of terms or an explanation: a label before it is then a word of that sentence. */
function isProse(value: string): boolean {
  const words = value.slice(0, MAX_REGISTRAR_LENGTH).toLowerCase().split(' ')
  if (words.length <= MAX_NAME_WORDS) return false
  // `clientHold the domain is not …` is a code and its meaning.
  return words.filter((word) => BETWEEN.has(word)).length > MAX_BETWEEN && !isCode(words[0] as string)
}

function add(list: string[], text: string): void {
  if (list.length < MAX_ENTRIES && !list.includes(text)) list.push(text)
}
