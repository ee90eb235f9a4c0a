import { parseAddress, reservedRow } from '@sallyport/core'
import { EVENT_KINDS, type EventKind } from './event.ts'

/** Forms of a notification. */
export const FORMS = ['slack', 'discord', 'ntfy', 'json', 'mail'] as const
export type Form = (typeof FORMS)[number]

/** Forms that a URL of http or https may be said to have; a mail server has a scheme of its own. */
export const SAID_FORMS = ['slack', 'discord', 'ntfy', 'json'] as const

/** A place of notifications, as it is configured. */
export interface NotifyConfig {
  readonly url: string
  readonly on?: readonly EventKind[] | undefined
  readonly as?: (typeof SAID_FORMS)[number] | undefined
  readonly secret?: string | undefined
}

/** A place of notifications. */
export interface Target {
  readonly form: Form
  readonly url: URL
  readonly on: ReadonlySet<EventKind>
  readonly secret: string | undefined
  /** Host and port: the rest of a URL is a secret. */
  readonly name: string
}

/** Less can be found by trying. */
const SHORTEST_SECRET = 32

const MAIL = /^smtps?:$/

/** The place of one entry; its URL was found good by `targetFault`. */
export function targetOf({ url: text, on = EVENT_KINDS, as, secret }: NotifyConfig): Target {
  const url = new URL(text)
  return { form: formOf(url, as), url, on: new Set(on), secret, name: url.host }
}

function formOf({ protocol, hostname, pathname }: URL, as: NotifyConfig['as']): Form {
  if (MAIL.test(protocol)) return 'mail'
  if (as !== undefined) return as
  if (hostname === 'hooks.slack.com') return 'slack'
  if (/^(?:.+\.)?discord(?:app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/')) return 'discord'
  return hostname === 'ntfy.sh' || hostname.startsWith('ntfy.') ? 'ntfy' : 'json'
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'smtp:': 25, 'smtps:': 465 }

/** The port of a place. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (PORTS[protocol] ?? 0) : Number(port)
}

/** Fault of an entry: the member that it is about, and the reason. The URL is not repeated, because it is a secret. */
export interface TargetFault {
  readonly member: 'url' | 'as' | 'secret'
  readonly message: string
}

/** The fault of an entry that cannot be sent to; `undefined` where there is none. */
export function targetFault(config: NotifyConfig): TargetFault | undefined {
  if (!URL.canParse(config.url)) return { member: 'url', message: 'is not a URL' }
  const url = new URL(config.url)
  const why = MAIL.test(url.protocol) ? mailFault(url) : hookFault(url)
  if (why !== undefined) return { member: 'url', message: why }
  if (MAIL.test(url.protocol) && config.as !== undefined)
    return { member: 'as', message: 'is for http and https: a mail server has one form' }
  const { form, secret } = targetOf(config)
  if (form !== 'json' || secret === undefined || secret.length >= SHORTEST_SECRET) return undefined
  return { member: 'secret', message: `must have ${SHORTEST_SECRET} characters or more: openssl rand -base64 24` }
}

function hookFault({ protocol, hostname, username, password }: URL): string | undefined {
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an http, https, smtp or smtps URL'
  if (username !== '' || password !== '')
    return 'holds user information, which only a mail server has: a token is secret'
  if (protocol === 'http:' && !isInside(hostname)) return 'must be https: plain http is for addresses inside alone'
  return undefined
}

function mailFault({ hostname, pathname, searchParams, username, password }: URL): string | undefined {
  if (hostname === '') return 'names no mail server'
  if (!/^\/?$/.test(pathname)) return 'has a path, which no mail server has: smtp://host/?from=&to='
  if ((username === '') !== (password === '')) return 'needs a user and a password, or neither'
  try {
    decodeURIComponent(username + password)
  } catch {
    return 'has a user or a password that is not escaped, as %25 for %'
  }
  const unknown = [...searchParams.keys()].find((name) => name !== 'from' && name !== 'to')
  if (unknown !== undefined) return `has the unknown parameter "${unknown}": smtp://host/?from=&to=`
  const missing = (['from', 'to'] as const).find((name) => addressesOf(searchParams, name).length === 0)
  if (missing !== undefined) return `lacks ${missing}=: smtp://host/?from=&to=`
  const all = (['from', 'to'] as const).flatMap((name) => addressesOf(searchParams, name))
  return all.every((address) => MAILBOX.test(address)) ? undefined : 'names no mail address in from= or to='
}

const MAILBOX = /^[^\s@<>,"]{1,64}@[^\s@<>,"]{1,255}$/

/** Mail addresses of a parameter, divided by commas. */
export function addressesOf(parameters: URLSearchParams, name: 'from' | 'to'): readonly string[] {
  const texts = parameters.getAll(name).flatMap((text) => text.split(','))
  return texts.map((text) => text.trim()).filter((text) => text !== '')
}

/** Whether a host is an address that is not public; a name never is. */
function isInside(hostname: string): boolean {
  const address = parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'))
  return address !== undefined && reservedRow(address) !== undefined
}

/** Settings of an entry that are allowed and most likely not meant; in words that follow its key. */
export function targetWarning(config: NotifyConfig): TargetFault | undefined {
  const { form, secret } = targetOf(config)
  if (form === 'json' && secret === undefined)
    return {
      member: 'secret',
      message: 'is missing: everybody who knows the URL can write what looks like a notification',
    }
  if ((form === 'slack' || form === 'discord' || form === 'mail') && secret !== undefined)
    return { member: 'secret', message: `is not used: ${form} has no place for it` }
  return undefined
}
