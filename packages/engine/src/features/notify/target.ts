import { parseAddress, reservedRow } from '@sallyport/core'
import { EVENT_KINDS, type EventKind } from '#service'

/** Forms of a notification. */
export const FORMS = ['slack', 'discord', 'ntfy', 'json'] as const
export type Form = (typeof FORMS)[number]

/** A place of notifications, as it is configured. */
export interface NotifyConfig {
  readonly url: string
  readonly on?: readonly EventKind[] | undefined
  readonly as?: Form | undefined
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

/** The place of one entry; its URL was found good by `targetFault`. */
export function targetOf({ url: text, on = EVENT_KINDS, as, secret }: NotifyConfig): Target {
  const url = new URL(text)
  return { form: formOf(url, as), url, on: new Set(on), secret, name: url.host }
}

function formOf({ hostname, pathname }: URL, as: NotifyConfig['as']): Form {
  if (as !== undefined) return as
  if (hostname === 'hooks.slack.com') return 'slack'
  if (/^(?:.+\.)?discord(?:app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/')) return 'discord'
  return hostname === 'ntfy.sh' || hostname.startsWith('ntfy.') ? 'ntfy' : 'json'
}

/** The port of a place. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port)
}

/** Fault of an entry: the member that it is about, and the reason. The URL is not repeated, because it is a secret. */
export interface TargetFault {
  readonly member: 'url' | 'secret'
  readonly message: string
}

/** The fault of an entry that cannot be sent to; `undefined` where there is none. */
export function targetFault(config: NotifyConfig): TargetFault | undefined {
  if (!URL.canParse(config.url)) return { member: 'url', message: 'is not a URL' }
  const why = hookFault(new URL(config.url))
  if (why !== undefined) return { member: 'url', message: why }
  const { form, secret } = targetOf(config)
  if (form !== 'json' || secret === undefined || secret.length >= SHORTEST_SECRET) return undefined
  return { member: 'secret', message: `must have ${SHORTEST_SECRET} characters or more: openssl rand -base64 24` }
}

function hookFault({ protocol, hostname, username, password }: URL): string | undefined {
  // Version 0.2 sent mail itself.
  if (/^smtps?:$/.test(protocol)) return 'is a mail server: mail is for Alertmanager, or for what receives a webhook'
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an http or https URL'
  if (username !== '' || password !== '') return 'holds user information: a token is secret'
  if (protocol === 'http:' && !isInside(hostname)) return 'must be https: plain http is for addresses inside alone'
  return undefined
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
  if ((form === 'slack' || form === 'discord') && secret !== undefined)
    return { member: 'secret', message: `is not used: ${form} has no place for it` }
  return undefined
}
