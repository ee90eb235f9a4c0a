import { readFileSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import { parseDocument } from 'yaml'
import type { z } from 'zod'
import { Config, type ConfigInput } from './schema.ts'

/** Where a configuration comes from; each later one wins: file, then environment, then flags. */
export interface ConfigSources {
  readonly file?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly flags?: ConfigInput
}

/** Reads and checks a configuration; throws `invalid_config` that names the file, the line or the key. */
export function readConfig({ file, env = {}, flags = {} }: ConfigSources): Config {
  const written = file === undefined ? {} : readFile(file)
  return parseConfig(merge(merge(written, environment(env)), flags))
}

/** Checks a configuration given in code; throws `invalid_config` that names the key. */
export function parseConfig(input: unknown): Config {
  const result = Config.safeParse(input)
  if (result.success) return result.data
  throw new SallyportError('invalid_config', `configuration: ${firstIssue(result.error)}`)
}

/** The first issue alone, with the key it is about. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0]
  if (issue === undefined) return 'not usable'
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const key = [...path, issue.keys[0] ?? ''].join('.')
    const later = LATER_KEYS.get(key)
    return later === undefined ? `unknown key "${key}"` : `"${key}" ${later}`
  }
  return path.length === 0 ? issue.message : `${path.join('.')}: ${issue.message}`
}

/** Keys of a later version: refused rather than ignored, so that no one relies on them. */
const LATER_KEYS: ReadonlyMap<string, string> = new Map([
  ['tls', 'is not supported by this version: terminate TLS in front and name that proxy in trustProxy'],
])

/** The map of keys that a YAML or JSON file holds; throws `invalid_config` that names the file and the line. */
export function readFile(file: string): Readonly<Record<string, unknown>> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new SallyportError('invalid_config', `configuration: cannot read ${file}: ${reason}`)
  }
  const document = parseDocument(text, { prettyErrors: true })
  const fault = document.errors[0]
  if (fault !== undefined) throw new SallyportError('invalid_config', `configuration: ${file}: ${fault.message}`)
  const written = plainOf(document, file)
  if (written === null) return {}
  if (!isRecord(written)) throw new SallyportError('invalid_config', `configuration: ${file}: must be a map of keys`)
  return written
}

/** Aliases of aliases can expand to a huge document: the parser throws on them. */
function plainOf(document: { toJS(): unknown }, file: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable'
    throw new SallyportError('invalid_config', `configuration: ${file}: ${reason}`)
  }
}

/** Other `SALLYPORT_…` variables are ignored, because orchestrators set some of their own. */
const VARIABLES: readonly (readonly [name: string, path: readonly string[], kind: 'text' | 'list' | 'json'])[] = [
  ['SALLYPORT_LISTEN', ['listen'], 'text'],
  ['SALLYPORT_ADMIN', ['admin'], 'text'],
  ['SALLYPORT_UPSTREAM', ['upstream'], 'text'],
  ['SALLYPORT_MODE', ['mode'], 'text'],
  ['SALLYPORT_TRUST_PROXY', ['trustProxy'], 'list'],
  ['SALLYPORT_CLIENT_HEADER', ['clientHeader'], 'text'],
  ['SALLYPORT_API_ENABLED', ['api', 'enabled'], 'json'],
  ['SALLYPORT_API_BASE', ['api', 'base'], 'text'],
  ['SALLYPORT_PATHS', ['paths'], 'text'],
  ['SALLYPORT_DATA_DIR', ['dataDir'], 'text'],
  ['SALLYPORT_STORE', ['store'], 'text'],
  ['SALLYPORT_REDIS', ['redis'], 'text'],
  ['SALLYPORT_DATA_REFRESH', ['data', 'refresh'], 'json'],
  ['SALLYPORT_NET_ALLOW_PRIVATE', ['net', 'allowPrivate'], 'list'],
  ['SALLYPORT_DNS_SERVERS', ['dns', 'servers'], 'list'],
  ['SALLYPORT_DNS_TIMEOUT_MS', ['dns', 'timeoutMs'], 'json'],
  ['SALLYPORT_DNS_REVERSE_NAMES', ['dns', 'reverseNames'], 'json'],
  ['SALLYPORT_POLICY_PRESET', ['policy', 'preset'], 'text'],
  ['SALLYPORT_PROVENANCE_POLICY', ['provenance', 'policy'], 'text'],
  ['SALLYPORT_PROVENANCE_SIGNING_KEY', ['provenance', 'signingKey'], 'text'],
  ['SALLYPORT_LIMITS_IPV6_PREFIX', ['limits', 'ipv6Prefix'], 'json'],
]

function environment(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, unknown>> {
  let read: Readonly<Record<string, unknown>> = {}
  for (const [name, path, kind] of VARIABLES) {
    const text = env[name]
    if (text === undefined || text === '') continue
    const value = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), variableValue(name, text, kind))
    read = merge(read, value as Readonly<Record<string, unknown>>)
  }
  return read
}

function variableValue(name: string, text: string, kind: 'text' | 'list' | 'json'): unknown {
  if (kind === 'text') return text
  if (kind === 'list') return splitList(text)
  try {
    return JSON.parse(text)
  } catch {
    throw new SallyportError('invalid_config', `configuration: ${name}: "${text}" is not a number, true or false`)
  }
}

/** A comma-separated list, as a flag or a variable gives it. */
export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** Maps are merged key by key; any other value of `over` replaces the one below. */
function merge(
  under: Readonly<Record<string, unknown>>,
  over: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const merged: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue
    const below = merged[key]
    merged[key] = isRecord(below) && isRecord(value) ? merge(below, value) : value
  }
  return merged
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
