import { isNamed, readScheme } from '@sallyport/core/host'
import type { ReceivedHead } from '@sallyport/node/internal'
import { listValues } from '../fields/field-table.ts'

/** Servers that ask before they forward; each names the original request in its own way. */
const FORWARD_AUTH = ['nginx', 'ingress-nginx', 'traefik', 'caddy', 'envoy'] as const

export type ForwardAuth = (typeof FORWARD_AUTH)[number]

/** The path that such a server asks. */
export const CHECK_PATH = '/.sallyport/check'

/** The path to which nginx sends a refused client for its page. */
export const REFUSED_PATH = '/.sallyport/refused'

/** Names the headers in which a server describes the original request. */
interface Family {
  readonly method: string
  /** Names the header that carries the target, or the whole URL. */
  readonly target: string
  readonly isUrl?: true | undefined
  /** Absent: the check has the Host of the original request. */
  readonly host?: string | undefined
}

const FORWARDED: Family = { method: 'x-forwarded-method', target: 'x-forwarded-uri', host: 'x-forwarded-host' }
const FAMILIES: Readonly<Record<ForwardAuth, Family | undefined>> = {
  nginx: { method: 'x-original-method', target: 'x-original-uri' },
  // ingress-nginx always sends the Host of the check, whatever is configured.
  'ingress-nginx': { method: 'x-original-method', target: 'x-original-url', isUrl: true },
  traefik: FORWARDED,
  caddy: FORWARDED,
  // Envoy checks with the original request, and puts our path before its own (`path_prefix` of ext_authz).
  envoy: undefined,
}
/** Names the headers of all families: a value that a client wrote under another family's name is never believed. */
const NAMES = ['x-original-method', 'x-original-uri', 'x-original-url', 'x-original-host', ...Object.values(FORWARDED)]
/** Fields between that server and us, and fields about a body that a check does not have. */
const OF_HOP = ['connection', 'host', 'content-length', 'trailer', 'x-forwarded-proto']

/** The request that a server asks about, or the name of a header that is missing or comes twice. */
export type Original = { readonly request: ReceivedHead } | { readonly missing: string }

/** Reports whether a server keeps only 401 and 403 of a refusal. */
export function isNginx(family: ForwardAuth): boolean {
  return family === 'nginx' || family === 'ingress-nginx'
}

/** Reports whether a target belongs to a check. */
export function isCheckFor(family: ForwardAuth, target: string): boolean {
  if (FAMILIES[family] === undefined) return target.startsWith(`${CHECK_PATH}/`) || target === `${CHECK_PATH}*`
  return target.split('?', 1)[0] === CHECK_PATH
}

/** Reads the original request from the check of a trusted server: only from the headers of its family, or from its own line. */
export function readOriginal(family: ForwardAuth, check: ReceivedHead): Original {
  const names = FAMILIES[family]
  const read: Record<string, string> = {}
  for (const name of listNames(names)) {
    const values = listValues(check.fields, name)
    if (values.length !== 1 || values[0] === '') return { missing: name }
    read[name] = values[0] as string
  }
  const url = names?.isUrl ? URL_PARTS.exec(read[names.target] as string)?.groups : undefined
  if (names?.isUrl && url === undefined) return { missing: names.target }
  const fields = ['Host', url?.['host'] ?? (read[names?.host ?? 'host'] as string)]
  for (let at = 0; at < check.fields.length; at += 2) {
    const name = check.fields[at] as string
    if (![...NAMES, ...OF_HOP].some((known) => isNamed(name, known))) fields.push(name, check.fields[at + 1] as string)
  }
  const scheme = readScheme(url?.['scheme'] ?? listValues(check.fields, 'x-forwarded-proto')[0] ?? '')
  return {
    request: {
      ...check,
      method: names === undefined ? check.method : (read[names.method] as string),
      target:
        url?.['target'] ?? (names === undefined ? check.target.slice(CHECK_PATH.length) : (read[names.target] ?? '')),
      scheme: scheme ?? 'unknown',
      // The version of the client is not known here.
      httpVersion: '1.1',
      fields,
    },
  }
}

/** nginx joins the URL from three variables; the last variable is the received target. */
const URL_PARTS = /^(?<scheme>https?):\/\/(?<host>[^/?#\s]+)(?<target>(?:[/?#].*)?)$/

function listNames(names: Family | undefined): readonly string[] {
  if (names === undefined) return ['host']
  return names.isUrl ? [names.method, names.target] : [names.method, names.target, names.host ?? 'host']
}
