import { WHOIS_FORMATS } from '@sallyport/data/whois-formats'
import { type Draft, recordOfDraft, take, takeRegistrarName } from './draft.ts'
import { hostsIn } from './hosts.ts'
import { fieldOf, isRegistrant, namesRegistrar } from './labels.ts'
import { type Line, labelKey, linesOf } from './lines.ts'
import { createPhrases } from './phrases.ts'
import type { WhoisFinding } from './record.ts'
import { belongsTo, continuationOf, type Section, sectionOf } from './sections.ts'
import { createWordings } from './wordings.ts'

const FREE_STATUSES: ReadonlySet<string> = new Set(WHOIS_FORMATS.statuses.free)
const RESERVED_STATUSES: ReadonlySet<string> = new Set(WHOIS_FORMATS.statuses.reserved)
const PHRASES = createPhrases(WHOIS_FORMATS.phrases)
const { throttled, reserved, free } = WHOIS_FORMATS.wordings
/** A refusal may name what it refuses, and what is reserved is `not available`: the more certain ones first. */
const WORDINGS = createWordings([
  ['throttled', throttled],
  ['reserved', reserved],
  ['free', free],
])
const REFERRALS: ReadonlySet<string> = new Set(['registrar whois server', 'whois server'])

/**
 * Reads an answer of a port-43 server (RFC 3912), which is text for people: labels of many registries, headings with
 * lines below them, sentences. No more than 24 KiB and 600 lines are looked at, and each line costs its length.
 */
export function parseWhoisText(text: string): WhoisFinding {
  const lines = linesOf(text, (key) => fieldOf(key) !== undefined)
  const draft = readDraft(lines)
  const texts = lines.map((line) => line.text).filter((line) => line !== '')
  const words = draft.status.map((status) =>
    status
      .toLowerCase()
      .replace(/[^a-z\d\u0080-\uffff]+/g, ' ')
      .trim(),
  )
  const { domain, registrar, registeredOn, expiresOn, lastUpdated, nameservers, registrant } = draft
  // A registrar or a last change can be read out of terms of use; these facts stand in records alone.
  const certain = nameservers.length > 0 || registeredOn !== undefined || expiresOn !== undefined
  if (!certain && PHRASES.find(texts, 'elsewhere')) return { state: 'unreadable' }
  if (!certain) for (const state of ['throttled', 'free'] as const) if (PHRASES.find(texts, state)) return { state }
  if (nameservers.length === 0 && words.some((word) => FREE_STATUSES.has(word))) return { state: 'free' }
  if (words.includes('reserved')) return { state: 'reserved' }
  if (!certain && words.some((word) => RESERVED_STATUSES.has(word))) return { state: 'reserved' }
  // An application can have a day on which it expires, and nothing else.
  const held = nameservers.length > 0 || [registrar, registeredOn, lastUpdated].some((fact) => fact !== undefined)
  if (!held && PHRASES.find(texts, 'reserved')) return { state: 'reserved' }
  const named = words.length > 0 || (domain !== undefined && registrant.length > 0)
  // What stands in terms of use makes no record: where nothing else was read, a sentence may say more.
  const worded =
    certain || (named && words.length === 0)
      ? undefined
      : WORDINGS.find(named ? draft.status : lines.map((line) => line.text))
  if (worded !== undefined) return { state: worded }
  return certain || held || named ? { state: 'registered', record: recordOfDraft(draft) } : { state: 'unreadable' }
}

/** The registrar's server that an answer names, lower case; whether it is asked is for the caller to decide. */
export function referralIn(text: string): string | undefined {
  const referrals = linesOf(text, () => false).filter((line) => REFERRALS.has(line.label))
  return referrals.flatMap((line) => hostsIn(line.value))[0]
}

function readDraft(lines: readonly Line[]): Draft {
  const draft: Draft = { nameservers: [], status: [], registrant: [] }
  let section: Section | undefined
  let afterBlank = true
  for (const line of lines) {
    if (line.text === '') {
      if (section?.fed || section?.continued) section = undefined
      afterBlank = true
    } else if (!line.comment) {
      section = readLine(draft, line, section, afterBlank)
      afterBlank = false
    }
  }
  return draft
}

/** Takes what a line says, and gives the section that the next one stands in. */
function readLine(draft: Draft, line: Line, section: Section | undefined, afterBlank: boolean): Section | undefined {
  const within = section !== undefined && belongsTo(line, section)
  // Below a person's heading there are labels that would be headings elsewhere.
  const opened = within && section.kind === 'contact' ? undefined : sectionOf(line, afterBlank)
  if (opened !== undefined) return opened
  if (within) {
    feed(draft, line, section)
    return { ...section, fed: true, nested: section.nested || line.indent > section.indent }
  }
  const field = fieldOf(line.label)
  if (field !== undefined) {
    take(draft, field, line.value)
    return continuationOf(line, field, afterBlank)
  }
  if (isRegistrant(line.label)) draft.registrant.push(line.value)
  takeSentence(draft, line, afterBlank)
  return section?.kind === 'contact' || section?.continued ? undefined : section
}

/** Takes a line that stands below a heading. */
function feed(draft: Draft, line: Line, { kind, heading }: Section): void {
  const labelled = line.label !== ''
  if (kind === 'contact') {
    if (isRegistrant(heading)) draft.registrant.push(line.value)
  } else if (kind === 'nameservers') {
    // A list has one server a line; what stands behind is its address or its handle.
    take(draft, kind, hostsIn(line.text)[0] ?? '')
  } else if (kind === 'registrar') {
    if (!labelled || namesRegistrar(line.label)) takeRegistrarName(draft, line.value)
  } else if (!labelled) {
    take(draft, kind, line.value)
  }
}

/** `Record created on 1998-05-06.`: a label of several words, and a date right behind it. */
function takeSentence(draft: Draft, line: Line, afterBlank: boolean): void {
  const words = line.text.slice(0, 200).split(/\s+/)
  for (const count of [4, 3, 2]) {
    const label = labelKey(words.slice(0, count).join(' '))
    const field = fieldOf(label)
    // By itself below the record, `Last updated on` speaks of the database.
    if (field === 'lastUpdated' && afterBlank && !/^(?:record|domain)/.test(label)) return
    if (field === 'registeredOn' || field === 'expiresOn' || field === 'lastUpdated') {
      if (!words[count]?.endsWith(':')) take(draft, field, words.slice(count).join(' '))
      return
    }
  }
}
