import type { WhoisField } from '@sallyport/data/whois-formats'
import { parseWhoisDate } from './dates.ts'
import { hostsIn } from './hosts.ts'
import { isPrivacyName } from './privacy.ts'
import { recordOf, type WhoisRecord } from './record.ts'
import { parseStatuses } from './status.ts'

/** What was read of an answer so far. Of single values the first counts: the domain's comes before a person's. */
export interface Draft {
  domain?: string
  registrar?: string | undefined
  registeredOn?: string
  expiresOn?: string
  lastUpdated?: string
  readonly nameservers: string[]
  readonly status: string[]
  /** Texts about the registrant, to tell whether they name a privacy service; they are not kept. */
  readonly registrant: string[]
}

const MOST = 64
const LONGEST_REGISTRAR = 200

/** A registrar's handle, which an object further down may give a name to. */
const HANDLE = /^[A-Z\d]{1,32}-[A-Z\d]{1,32}$/

/** Adds what a value says of a field. */
export function take(draft: Draft, field: WhoisField, value: string): void {
  switch (field) {
    case 'domain':
      takeDomain(draft, value)
      break
    case 'nameservers':
      for (const host of hostsIn(value)) if (host !== draft.domain) add(draft.nameservers, host)
      break
    case 'status':
      takeStatus(draft, value)
      break
    case 'registrar':
      draft.registrar ??= registrarOf(value)
      break
    case 'lastUpdated':
      takeChange(draft, value)
      break
    default: {
      if (draft[field] !== undefined) break
      const date = parseWhoisDate(value)
      if (date !== undefined) draft[field] = date
    }
  }
}

/** Takes the registrar's name in its own section, in place of the handle that the domain's section named it by. */
export function takeRegistrarName(draft: Draft, value: string): void {
  const name = registrarOf(value)
  if (name !== undefined && (draft.registrar === undefined || HANDLE.test(draft.registrar))) draft.registrar = name
}

export function recordOfDraft({ domain: _, registrant, ...known }: Draft): WhoisRecord {
  return recordOf({ ...known, privacyProtection: registrant.some(isPrivacyName) })
}

function takeDomain(draft: Draft, value: string): void {
  const [name = '', is, ...words] = value.slice(0, 300).split(/\s+/, 4)
  const host = hostsIn(name)[0]
  if (host !== undefined) draft.domain ??= host
  // `EXAMPLE.TK is Active`
  if (is === 'is') takeStatus(draft, words.join(' '))
}

function takeStatus(draft: Draft, value: string): void {
  for (const status of parseStatuses(value)) add(draft.status, status)
  // `Connected (2019/03/31)` and `OK-UNTIL 20190331120000` hold the day on which the registration ends.
  const until = /\(([\d/]{8,10})\)|^ok-until (\d{8})/i.exec(value.slice(0, 100))
  if (until !== null) take(draft, 'expiresOn', until[1] ?? until[2] ?? '')
}

/** A registry may log what was done: `someone@example 20010203 (Assigned)`, later `20210203 (Changed)`. */
function takeChange(draft: Draft, value: string): void {
  const date = parseWhoisDate(value)
  const done = /\((assigned|changed)\)$/i.exec(value.slice(0, 200))?.[1]?.toLowerCase()
  if (date === undefined) return
  if (done === 'assigned') draft.registeredOn ??= date
  else if (done === 'changed') draft.lastUpdated = date
  else draft.lastUpdated ??= date
}

function registrarOf(value: string): string | undefined {
  const name = value
    .slice(0, LONGEST_REGISTRAR)
    .replace(/ ?\( ?(?:R\d+-[A-Z]+|https?:[^)]*)\)$/, '')
    .trim()
  return name === '' || /^no registrar listed\b/i.test(name) ? undefined : name
}

function add(list: string[], text: string): void {
  if (list.length < MOST && !list.includes(text)) list.push(text)
}
