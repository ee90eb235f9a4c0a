import { WHOIS_FORMATS } from '@sallyport/data/whois-formats'

/** Matches controls other than tab and line ends, and marks that reverse the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** Makes untrusted text safe for a terminal or a page: characters that could steer either become spaces. */
export function stripControls(text: string): string {
  return text.replace(UNPRINTABLE, ' ')
}

const MAX_HOST_LENGTH = 253
const MAX_HOSTS = 64

/** ASCII by its rules and anything beyond it: V8 takes milliseconds to compile a pattern by Unicode property. */
const LABEL = /^[a-z\d\u0080-\uffff](?:[a-z\d\u0080-\uffff-]{0,61}[a-z\d\u0080-\uffff])?$/

/** Registries write this text if there is no server. */
const NO_HOST = new Set(['not.defined'])

/** Lists the hostnames in a text, in lower case and without the trailing dot; addresses, e-mail addresses and URLs do not count. */
export function hostsIn(text: string): readonly string[] {
  return text
    .split(/[\s,;()[\]<>"']+/)
    .map((token) => token.toLowerCase().replace(/\.$/, ''))
    .filter(isHost)
    .slice(0, MAX_HOSTS)
}

/** Reports whether a word consists of characters of addresses, with marks around; '' does. */
export function isAddressLike(word: string): boolean {
  return /^[\d.:a-f/()[\]]*$/i.test(word)
}

function isHost(token: string): boolean {
  if (token.length > MAX_HOST_LENGTH || !token.includes('.') || NO_HOST.has(token)) return false
  const labels = token.split('.')
  const top = labels.at(-1) ?? ''
  return labels.every((label) => LABEL.test(label)) && /^(?:[a-z\u0080-\uffff]{2,63}|xn--[a-z\d-]+)$/.test(top)
}

const BY_LETTERS: ReadonlyMap<string, string> = new Map(WHOIS_FORMATS.codes.map((code) => [code.toLowerCase(), code]))

const MAX_STATUS_LENGTH = 100
const MAX_STATUSES = 32

/**
 * Lists the statuses in a text: EPP codes in their official spelling, however they were written (`CLIENT HOLD`, `client-hold`, followed by
 * a URL or an explanation), anything else in the registry's words.
 */
export function parseStatuses(text: string): readonly string[] {
  return text
    .slice(0, MAX_STATUS_LENGTH * MAX_STATUSES)
    .split(/,|(?<!&[a-z]{2,8});/)
    .slice(0, MAX_STATUSES)
    .map((part) => normaliseStatus(part.replace(/https?:\S*/gi, ' ').trim()))
    .filter((status) => /[a-z\u0080-\uffff]/i.test(status))
}

function normaliseStatus(text: string): string {
  const whole = BY_LETTERS.get(letters(text))
  if (whole !== undefined) return whole
  // Registries add an explanation: `clientHold (registrar lock)`, `clientHold - Status prevents …`, `ok https://…`
  const first = BY_LETTERS.get(letters(text.split(/[\s(]/, 1)[0] ?? ''))
  // The date is cut off: `Registered until expiry date.`
  return first ?? (text.slice(0, MAX_STATUS_LENGTH).split(/\(| until /, 1)[0] ?? '').trim()
}

/** Reports whether a word is an EPP code in any spelling. */
export function isCode(word: string): boolean {
  return BY_LETTERS.has(letters(word))
}

function letters(text: string): string {
  return text
    .slice(0, MAX_STATUS_LENGTH)
    .toLowerCase()
    .replace(/[\s_-]/g, '')
}
