import { isNamed, readScheme } from '@sallyport/core/host'
import type { ReceivedHead } from '@sallyport/node/internal'

/** Servers that ask before they forward; each names the original request in its own way. */
const FORWARD_AUTH = ['nginx', 'ingress-nginx', 'traefik', 'caddy', 'envoy'] as const

export type ForwardAuth = (typeof FORWARD_AUTH)[number]

/** Path that such a server asks. */
export const CHECK_PATH = '/.sallyport/check'

/** Path to which nginx sends a refused client for its page. */
export const REFUSED_PATH = '/.sallyport/refused'

/** Headers in which one server names the original request. */
interface Family {
  readonly method: string
  /** The target, or the whole URL. */
  readonly target: string
  readonly isUrl?: true | undefined
  /** Absent: the Host of the check is that of the original request. */
  readonly host?: string | undefined
}

const FORWARDED: Family = { method: 'x-forwarded-method', target: 'x-forwarded-uri', host: 'x-forwarded-host' }
const FAMILIES: Readonly<Record<ForwardAuth, Family | undefined>> = {
  nginx: { method: 'x-original-method', target: 'x-original-uri' },
  // Its Host is that of the check, whatever is configured.
  'ingress-nginx': { method: 'x-original-method', target: 'x-original-url', isUrl: true },
  traefik: FORWARDED,
  caddy: FORWARDED,
  // Envoy's check is the original request, with our path before its own (`path_prefix` of ext_authz).
  envoy: undefined,
}
/** Names of all families: a value that a client wrote under another one's names is never believed. */
const NAMES = ['x-original-method', 'x-original-uri', 'x-original-url', 'x-original-host', ...Object.values(FORWARDED)]
/** Fields between that server and us, and one about a body that a check does not have. */
const OF_HOP = ['connection', 'host', 'content-length', 'trailer', 'x-forwarded-proto']

/** The request that a server asks about, or the name of the header that is missing or comes twice. */
export type Original = { readonly request: ReceivedHead } | { readonly missing: string }

/** Whether a server keeps nothing of a refusal but 401 and 403. */
export function isNginx(family: ForwardAuth): boolean {
  return family === 'nginx' || family === 'ingress-nginx'
}

/** Whether a target is that of a check. */
export function isCheckOf(family: ForwardAuth, target: string): boolean {
  if (FAMILIES[family] === undefined) return target.startsWith(`${CHECK_PATH}/`) || target === `${CHECK_PATH}*`
  return target.split('?', 1)[0] === CHECK_PATH
}

/** Reads the original request from the check of a trusted server: from the headers of its family alone, or from its own line. */
export function readOriginal(family: ForwardAuth, check: ReceivedHead): Original {
  const names = FAMILIES[family]
  const read: Record<string, string> = {}
  for (const name of namesOf(names)) {
    const values = valuesOf(check.fields, name)
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
  const scheme = readScheme(url?.['scheme'] ?? valuesOf(check.fields, 'x-forwarded-proto')[0] ?? '')
  return {
    request: {
      ...check,
      method: names === undefined ? check.method : (read[names.method] as string),
      target:
        url?.['target'] ?? (names === undefined ? check.target.slice(CHECK_PATH.length) : (read[names.target] ?? '')),
      scheme: scheme ?? 'unknown',
      // That of the client is not known here.
      httpVersion: '1.1',
      fields,
    },
  }
}

/** As nginx writes it out of three variables; the last one is the target as it came. */
const URL_PARTS = /^(?<scheme>https?):\/\/(?<host>[^/?#\s]+)(?<target>(?:[/?#].*)?)$/

function namesOf(names: Family | undefined): readonly string[] {
  if (names === undefined) return ['host']
  return names.isUrl ? [names.method, names.target] : [names.method, names.target, names.host ?? 'host']
}

function valuesOf(fields: readonly string[], name: string): readonly string[] {
  return fields.filter((_, at) => at % 2 === 1 && isNamed(fields[at - 1] as string, name))
}
