import { parseAddress, reservedRow } from '@sallyport/core'
import { EVENT_KINDS, type EventKind } from '#service'

/** Lists the forms of a notification. */
export const FORMS = ['slack', 'discord', 'ntfy', 'json'] as const
export type Form = (typeof FORMS)[number]

/** Holds a place of notifications in its configured form. */
export interface NotifyConfig {
  readonly url: string
  readonly on?: readonly EventKind[] | undefined
  readonly as?: Form | undefined
  readonly secret?: string | undefined
}

export interface Target {
  readonly form: Form
  readonly url: URL
  readonly on: ReadonlySet<EventKind>
  readonly secret: string | undefined
  /** Shows host and port: the rest of a URL is a secret. */
  readonly name: string
}

/** A shorter secret can be found by trying. */
const SHORTEST_SECRET = 32

/** Reads the place of one entry; `targetFault` has accepted its URL. */
export function readTarget({ url: text, on = EVENT_KINDS, as, secret }: NotifyConfig): Target {
  const url = new URL(text)
  return { form: chooseForm(url, as), url, on: new Set(on), secret, name: url.host }
}

function chooseForm({ hostname, pathname }: URL, as: NotifyConfig['as']): Form {
  if (as !== undefined) return as
  if (hostname === 'hooks.slack.com') return 'slack'
  if (/^(?:.+\.)?discord(?:app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/')) return 'discord'
  return hostname === 'ntfy.sh' || hostname.startsWith('ntfy.') ? 'ntfy' : 'json'
}

/** Returns the port of a place. */
export function readPort({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port)
}

/** Names the member that is at fault, and the reason. The URL is not repeated, because it is a secret. */
export interface TargetFault {
  readonly member: 'url' | 'secret'
  readonly message: string
}

/** Returns why an entry cannot be used; `undefined` if it can. */
export function targetFault(config: NotifyConfig): TargetFault | undefined {
  if (!URL.canParse(config.url)) return { member: 'url', message: 'is not a URL' }
  const why = hookFault(new URL(config.url))
  if (why !== undefined) return { member: 'url', message: why }
  const { form, secret } = readTarget(config)
  if (form !== 'json' || secret === undefined || secret.length >= SHORTEST_SECRET) return undefined
  return { member: 'secret', message: `must have at least ${SHORTEST_SECRET} characters: openssl rand -base64 24` }
}

function hookFault({ protocol, hostname, username, password }: URL): string | undefined {
  // Version 0.2 sent mail directly.
  if (/^smtps?:$/.test(protocol)) return 'is a mail server. Use Alertmanager, or a webhook that sends mail'
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an http or https URL'
  if (username !== '' || password !== '') return 'contains a user name or password. Use secret for a token'
  if (protocol === 'http:' && !isInside(hostname)) return 'must be https, except for private addresses'
  return undefined
}

function isInside(hostname: string): boolean {
  const address = parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'))
  return address !== undefined && reservedRow(address) !== undefined
}

/** Warns of settings that are allowed and probably not intended, in words that follow their key. */
export function targetWarning(config: NotifyConfig): TargetFault | undefined {
  const { form, secret } = readTarget(config)
  if (form === 'json' && secret === undefined)
    return { member: 'secret', message: 'is missing, so anyone who knows the URL can forge notifications' }
  if ((form === 'slack' || form === 'discord') && secret !== undefined)
    return { member: 'secret', message: `is not used by ${form}. Remove it` }
  return undefined
}
