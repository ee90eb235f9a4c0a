import { WHOIS_FORMATS } from '@sallyport/data/whois-formats'
import { type DateOrder, findDateOrder } from './date-order.ts'
import { findField, isRegistrant, REGISTRAR_NAMES } from './labels.ts'
import { type Line, labelKey, splitLines } from './lines.ts'
import { oneRecord } from './one-record.ts'
import { completeRecord, emptyRecord, type PartialRecord, take, takeRegistrarName } from './partial-record.ts'
import type { WhoisFinding } from './record.ts'
import { belongsTo, continueSection, readSection, type Section } from './sections.ts'
import { hostsIn } from './values.ts'
import { findWording } from './wordings.ts'

const FREE_STATUSES: ReadonlySet<string> = new Set(WHOIS_FORMATS.statuses.free)
const RESERVED_STATUSES: ReadonlySet<string> = new Set(WHOIS_FORMATS.statuses.reserved)
const REFERRALS: ReadonlySet<string> = new Set(['registrar whois server', 'whois server'])

/**
 * Reads an answer of a port-43 server (RFC 3912), which is text for people: labels, headings with lines below them,
 * sentences. At most 24 KiB and 600 lines are read, in time linear in their length. Of several records it is that of `domain`,
 * in lower case.
 */
export function parseWhoisText(text: string, domain?: string): WhoisFinding {
  const lines = splitLines(text, (key) => findField(key) !== undefined)
  const partial = readRecord(oneRecord(lines, domain), findDateOrder(lines))
  const words = partial.status.map((status) =>
    status
      .toLowerCase()
      .replace(/[^a-z\d\u0080-\uffff]+/g, ' ')
      .trim(),
  )
  const { registrar, registeredOn, expiresOn, lastUpdated, nameservers, registrant } = partial
  // Terms of use may seem to name a registrar or a last change; these facts occur in records alone.
  const certain = nameservers.length > 0 || registeredOn !== undefined || expiresOn !== undefined
  const texts = lines.map((line) => line.text)
  if (!certain && findWording(texts) === 'elsewhere') return { state: 'unreadable' }
  if (nameservers.length === 0 && words.some((word) => FREE_STATUSES.has(word))) return { state: 'free' }
  if (words.includes('reserved')) return { state: 'reserved' }
  if (!certain && words.some((word) => RESERVED_STATUSES.has(word))) return { state: 'reserved' }
  // An application has at most the day on which it expires.
  const held = nameservers.length > 0 || [registrar, registeredOn, lastUpdated].some((fact) => fact !== undefined)
  const named = words.length > 0 || (partial.domain !== undefined && registrant.length > 0)
  // If no fact of a record was read, or only the end of an application, a sentence may name the state.
  const isRead = (certain && held) || (named && words.length === 0)
  const worded = isRead ? undefined : findWorded(named, certain, partial.status, texts)
  if (worded !== undefined && worded !== 'elsewhere') return { state: worded }
  const isRecord = held || certain || named
  return isRecord ? { state: 'registered', record: completeRecord(partial) } : { state: 'unreadable' }
}

/** The words of a status come first; beside one, terms of use say nothing of a record with dates or servers. */
function findWorded(named: boolean, certain: boolean, statuses: readonly string[], texts: readonly string[]) {
  const inStatus = named ? findWording(statuses) : undefined
  return inStatus ?? (named && certain ? undefined : findWording(texts))
}

/** The registrar's server that an answer refers to, lower case; the caller decides whether to ask it. */
export function referralIn(text: string): string | undefined {
  const referrals = splitLines(text, () => false).filter((line) => REFERRALS.has(line.label))
  return referrals.flatMap((line) => hostsIn(line.value))[0]
}

function readRecord(lines: readonly Line[], dateOrder: DateOrder): PartialRecord {
  const partial = emptyRecord(dateOrder)
  let section: Section | undefined
  let afterBlank = true
  for (const line of lines) {
    if (line.text === '') {
      if (section?.fed || section?.continued) section = undefined
      afterBlank = true
    } else if (!line.comment) {
      section = readLine(partial, line, section, afterBlank)
      afterBlank = false
    }
  }
  return partial
}

/** Reads a line into the record, and returns the section that the next line may be part of. */
function readLine(
  partial: PartialRecord,
  line: Line,
  section: Section | undefined,
  afterBlank: boolean,
): Section | undefined {
  const within = section !== undefined && belongsTo(line, section)
  // Labels of a person's section would be headings elsewhere.
  const opened = within && section.kind === 'contact' ? undefined : readSection(line, afterBlank)
  if (opened !== undefined) return opened
  if (within) {
    feed(partial, line, section)
    return { ...section, fed: true, nested: section.nested || line.indent > section.indent }
  }
  const field = findField(line.label)
  if (field !== undefined) {
    take(partial, field, line.value)
    return continueSection(line, field, afterBlank)
  }
  if (isRegistrant(line.label)) partial.registrant.push(line.value)
  takeSentence(partial, line, afterBlank)
  return section?.kind === 'contact' || section?.continued ? undefined : section
}

/** Reads a line below a heading into the record. */
function feed(partial: PartialRecord, line: Line, { kind, heading }: Section): void {
  const labelled = line.label !== ''
  if (kind === 'contact') {
    if (isRegistrant(heading)) partial.registrant.push(line.value)
  } else if (kind === 'nameservers') {
    // One server a line, followed by its address or its handle.
    take(partial, kind, hostsIn(line.text)[0] ?? '')
  } else if (kind === 'registrar') {
    if (!labelled || REGISTRAR_NAMES.has(line.label)) takeRegistrarName(partial, line.value)
  } else if (!labelled) {
    take(partial, kind, line.value)
  }
}

/** `Record created on 1998-05-06.`: a label of several words, followed by a date. */
function takeSentence(partial: PartialRecord, line: Line, afterBlank: boolean): void {
  const words = line.text.slice(0, 200).split(/\s+/)
  for (const count of [4, 3, 2]) {
    const label = labelKey(words.slice(0, count).join(' '))
    const field = findField(label)
    // In a paragraph of its own, `Last updated on` is about the database.
    if (field === 'lastUpdated' && afterBlank && !/^(?:record|domain)/.test(label)) return
    if (field === 'registeredOn' || field === 'expiresOn' || field === 'lastUpdated') {
      if (!words[count]?.endsWith(':')) take(partial, field, words.slice(count).join(' '))
      return
    }
  }
}
