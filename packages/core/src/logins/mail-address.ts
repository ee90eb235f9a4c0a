import { getDomain } from 'tldts'
import { urlHost } from '../address/hostname.ts'

/** Holds a mail address without the parts that its provider ignores. */
export interface MailAddress {
  readonly mailbox: string
  /** The mailbox without digits and signs, as waves of sign-ups number theirs; absent where few letters are left, as of a student's number. */
  readonly stem?: string | undefined
  readonly host: string
  /** The domain is registrable. */
  readonly domain: string
  /** The address has a tag, or another spelling of the mailbox. */
  readonly isAlias: boolean
  /** A large provider has rules of its own. */
  readonly isAtProvider: boolean
}

interface Provider {
  readonly hosts: readonly string[]
  /** All hosts have the mailboxes of this one; without it, each host has its own. */
  readonly host?: string | undefined
  /** A tag begins with this character. */
  readonly tag: string
  /** The provider ignores these characters. */
  readonly ignored?: RegExp | undefined
}

/** These rules are documented by their providers: Gmail, Outlook.com, Fastmail, iCloud, Proton and Yahoo, in this order. */
const PROVIDERS: readonly Provider[] = [
  { hosts: ['gmail.com', 'googlemail.com'], host: 'gmail.com', tag: '+', ignored: /\./g },
  { hosts: ['outlook.com', 'hotmail.com', 'live.com', 'msn.com'], tag: '+' },
  { hosts: ['fastmail.com', 'fastmail.fm'], tag: '+' },
  { hosts: ['icloud.com', 'me.com', 'mac.com'], host: 'icloud.com', tag: '+' },
  { hosts: ['proton.me', 'protonmail.com', 'pm.me'], host: 'proton.me', tag: '+', ignored: /[._-]/g },
  { hosts: ['yahoo.com', 'ymail.com', 'rocketmail.com'], tag: '-' },
]

const BY_HOST = new Map(PROVIDERS.flatMap((provider) => provider.hosts.map((host) => [host, provider])))

/** RFC 5321 allows 64 characters before the sign, and 255 behind it. */
const MAX_ADDRESS = 320

/**
 * Parses a mail address, also one in angle brackets behind a name; returns `undefined` for any other text, as for a user name. It ignores
 * width, case, surrounding spaces, invisible letters, comments and needless quotes, because applications and mail libraries drop them.
 */
export function parseMailAddress(given: string): MailAddress | undefined {
  const whole = given.trim()
  const trimmed = whole.endsWith('>') ? whole.slice(whole.lastIndexOf('<') + 1, -1).trim() : whole
  if (trimmed.length > MAX_ADDRESS) return undefined
  const visible = trimmed.normalize('NFKC').replace(/\p{Cf}/gu, '')
  const text = (visible.includes('(') ? dropComments(visible) : visible).trim().toLowerCase()
  const sign = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(0, sign)).replace(/^"([^\s"\\]+)"$/, '$1')
  // Only a quoted name has spaces (RFC 5321 section 4.1.2).
  if (sign < 1 || (/[\s\p{C}]/u.test(local) && !/^".+"$/u.test(local))) return undefined
  const host = asciiHost(text.slice(sign + 1))
  if (host === undefined) return undefined
  const provider = BY_HOST.get(isFastmail(host) ? parentHost(host) : host)
  const domain = getDomain(host) ?? host
  const [name, place] = provider === undefined ? [local, host] : readMailbox(local, host, provider)
  const letters = name.replace(/\P{L}/gu, '')
  return {
    mailbox: `${name}@${place}`,
    stem: letters.length < 3 ? undefined : `${letters}@${place}`,
    host,
    domain,
    isAlias: name !== local || place !== host,
    isAtProvider: provider !== undefined,
  }
}

/** Drops comments in parentheses, which may hold others (RFC 5322 section 3.2.2). */
function dropComments(text: string): string {
  let [kept, depth] = ['', 0]
  for (const letter of text) {
    if (letter === '(') depth++
    else if (letter === ')' && depth > 0) depth--
    else if (depth === 0) kept += letter
  }
  return depth === 0 ? kept : text
}

function readMailbox(local: string, host: string, provider: Provider): readonly [name: string, host: string] {
  // Fastmail delivers tag@name.fastmail.com to name+tag@fastmail.com.
  if (!provider.hosts.includes(host)) return [host.slice(0, host.indexOf('.')), parentHost(host)]
  const [name = ''] = local.split(provider.tag, 1)
  const bare = provider.ignored === undefined ? name : name.replace(provider.ignored, '')
  // A local part that consists of ignored characters is one that the provider refuses, and no alias of an empty one.
  return [bare === '' ? local : bare, provider.host ?? host]
}

function parentHost(host: string): string {
  return host.slice(host.indexOf('.') + 1)
}

function isFastmail(host: string): boolean {
  return parentHost(host).startsWith('fastmail.')
}

/** Writes a host in ASCII and lower case: lookalike letters stay different. */
function asciiHost(text: string): string | undefined {
  if (!/^[^\s/?#\\:@[\]%]{3,254}$/.test(text)) return undefined
  // Most hosts are written as a URL has them.
  const isPlain = /^[a-z\d][a-z\d.-]+$/.test(text) && !text.includes('..') && !text.includes('xn--')
  if (isPlain && text.includes('.') && /^[a-z]{2,}$/.test(text.slice(text.lastIndexOf('.') + 1))) return text
  const host = urlHost(`http://${text}/`)?.replace(/\.$/, '')
  return host?.slice(1).includes('.') ? host : undefined
}

/** Longer names are cut to this many characters, so that they take little work. */
const MAX_IDENTIFIER = 1_024

/** Returns the same text for all spellings of an identifier: the mailbox, or the name without case and width. */
export function foldIdentifier(text: string): string {
  return parseMailAddress(text)?.mailbox ?? foldSpelling(text)
}

/** Returns the text without case and width: two aliases of one mailbox stay two, since two users may have them. */
export function foldSpelling(text: string): string {
  return text.trim().slice(0, MAX_IDENTIFIER).normalize('NFKC').toLowerCase()
}
