import { setImmediate } from 'node:timers/promises'
import {
  type AskedParts,
  CHALLENGE_LEVELS,
  type Counter,
  type Decision,
  errorText,
  HTTP_VERSIONS,
  type InspectedPass,
  type InspectionRequest,
  isRecord,
  type McpRequest,
  mayBeMcp,
  parseAddress,
  parseCalls,
  readMcpRequest,
  refuses,
  SallyportError,
  suggestion,
} from '@sallyport/core'
import type { PolicyTest, Sallyport } from '@sallyport/engine'
import { inputName, inputText } from '../terminal/input.ts'

/** A request as a file describes it. */
export interface DescribedRequest extends Readonly<PolicyTest['request']> {
  readonly ip: string
  /** Lists headless traits that the browser showed. */
  readonly headlessFlags?: readonly string[] | undefined
  /** Whether header names have the client's spelling; absent: where not all names are in lower case. */
  readonly spelled?: boolean | undefined
}

/** Decides a described request: inline where its headers are known, else by the agent check. */
export async function decideDescribed(sallyport: Sallyport, request: DescribedRequest): Promise<Decision> {
  const address = parseAddress(request.ip)
  if (address === undefined) throw new SallyportError('invalid_ip', `"${request.ip}" is not an IP address.`)
  const { method, headers, headlessFlags, ja4, mcp: texts } = request
  // The target is judged as the bytes that would have come.
  const target = Buffer.from(request.path).toString('latin1')
  const fields = listFields(request)
  const mcp = texts === undefined ? callsInHeaders(method, fields) : parseCalls(texts)
  const asked = { ...askedParts(request, fields, target), ...(mcp === 'unknown' && { mcp }) }
  const known = mcp === 'unknown' ? undefined : mcp
  const pass = makePass(request)
  const about = {
    fields,
    headersKnown: headers !== undefined,
    method,
    target,
    pass,
    ja4,
    headlessFlags,
    asked,
    mcp: known,
  }
  if (headers === undefined || headlessFlags !== undefined) return sallyport.check(address, about)
  const httpVersion = isSpelled(request) ? '' : '2.0'
  const seen: InspectionRequest = {
    peer: request.ip,
    method,
    target,
    scheme: request.scheme,
    httpVersion,
    fields,
    pass,
    ...(ja4 !== undefined && { ja4 }),
    ...(known && { mcp: known }),
  }
  const first = sallyport.decide(seen, { asked })
  if (first.inspection.crawler?.pending !== true || first.inspection.agent.basis === 'signature') return first
  // An explanation waits for DNS; a visitor's request does not.
  await sallyport.check(address, about)
  return sallyport.decide(seen, { asked })
}

/** Reads the calls that headers name; without a body nothing more is known of a POST. */
function callsInHeaders(method: string, fields: readonly string[]): McpRequest | 'unknown' | undefined {
  if (!mayBeMcp({ method, fields })) return undefined
  const read = readMcpRequest(fields, { missing: 'unseen' })
  return read === undefined || read.fault !== undefined ? 'unknown' : read
}

/** Lists header fields, name and value by turns; omits the pseudo fields of HTTP/2, whose names begin with a colon. */
export function listFields({
  headers = {},
  userAgent,
}: Pick<DescribedRequest, 'headers' | 'userAgent'>): readonly string[] {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    name.startsWith(':') ? [] : [values].flat().flatMap((value) => [name, value]),
  )
  return userAgent === undefined ? lines : [...lines, 'User-Agent', userAgent]
}

/** Returns the request as rules read it: what the description omits is unknown. */
function askedParts(request: DescribedRequest, fields: readonly string[], target: string): AskedParts {
  const { headers, userAgent, httpVersion, ja4, load, behaviour = 'unknown' } = request
  const names = new Set(fields.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()))
  const host = names.has('host') ? undefined : (request.host ?? findAuthority(headers))
  const kept = [...(userAgent === undefined ? [] : ['user-agent']), ...(host === undefined ? [] : ['host'])]
  return {
    fields: host === undefined ? fields : [...fields, 'Host', host],
    target,
    httpVersion,
    ja4,
    load,
    behaviour,
    ...(headers === undefined ? { kept } : !names.has('host') && host === undefined && { lacks: ['host'] }),
  }
}

function findAuthority(headers: DescribedRequest['headers']): string | undefined {
  return [headers?.[':authority'] ?? []].flat()[0]
}

/** Creates one pass for all requests with a pass, so that its budget counts them together. */
function makePass({ pass = 'none' }: DescribedRequest): InspectedPass | undefined {
  return pass === 'none' ? undefined : { id: 'described-1', level: pass.level, age: pass.age }
}

/** Reports whether the spelling of names counts: names are in lower case over HTTP/2, and in the maps of Node and Fetch. */
function isSpelled({ spelled, headers = {} }: DescribedRequest): boolean {
  return spelled ?? Object.keys(headers).some((name) => name !== name.toLowerCase())
}

/** Counts a decision, whose answer ends at once. `status` is the origin's; by default it is 200. */
export async function countDescribed(
  counter: Counter,
  request: Pick<DescribedRequest, 'headers' | 'userAgent'>,
  decided: Decision,
  status = 200,
): Promise<Decision> {
  const { decision, ended } = await counter.count(decided, listFields(request))
  if (ended === undefined) return decision
  // A refused request gets no answer of the origin.
  ended(decision.enforced && refuses(decision.action) ? undefined : status)
  // The next request comes after this one's strike is counted.
  await setImmediate()
  return decision
}

/** Holds the requests of a file, and counts the entries that never left the browser. */
export interface ReadRequests {
  readonly requests: readonly DescribedRequest[]
  readonly skipped: number
}

/**
 * Reads the requests of a file: one request as JSON, in the form of `policy test` or of `POST /v1/agentscan/check`, or the entries of a
 * HAR, for which `ip` names the client. Rejects with `invalid_request` that names the file.
 */
export async function readRequests(given: string, ip: string | undefined): Promise<ReadRequests> {
  const file = inputName(given)
  const document = await parseFile(given)
  const entries = toRecord(toRecord(document)?.['log'])?.['entries']
  if (!Array.isArray(entries)) return { requests: [describeRequest(toRecord(document), ip, file, MEMBERS)], skipped: 0 }
  const asked = entries.map((entry) => toRecord(toRecord(entry)?.['request']))
  const sent = asked.filter((request) => request === undefined || !isLocal(findText(request, 'url')))
  if (sent.length === 0) throw refusal(file, 'log.entries', 'contains no request')
  const requests = sent.map((request) => describeRequest(request, ip, file))
  return { requests, skipped: entries.length - sent.length }
}

/** Reports whether a browser answers a URL itself: `data:`, `blob:`, `about:` or an extension. */
function isLocal(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && !/^(?:http|ws)s?:$/.test(new URL(url).protocol)
}

/** Lists the members of a request in the supported forms. */
const MEMBERS: readonly string[] = [
  'ip',
  'peer',
  'method',
  'path',
  'target',
  'url',
  'scheme',
  'headers',
  'userAgent',
  'user_agent',
  'host',
  'httpVersion',
  'ja4',
  'load',
  'headless_flags',
  'request_id',
  'pass',
  'mcp',
]

/** Lists members that are not texts. */
const STRUCTURED: readonly string[] = ['headers', 'headless_flags', 'pass', 'mcp']

/** Describes a request of a file. A hand-written request may have only `members`; a HAR has many more. */
function describeRequest(
  request: Readonly<Record<string, unknown>> | undefined,
  ip: string | undefined,
  file: string,
  members?: readonly string[],
): DescribedRequest {
  if (request === undefined) throw refusal(file, 'request', 'must be an object')
  for (const [name, value] of Object.entries(request)) {
    if (members?.includes(name) === false) throw refusal(file, name, `is not known${suggestion(name, members)}`)
    if (members === undefined || STRUCTURED.includes(name)) continue
    if (name === 'load' ? !(typeof value === 'number' && value >= 0) : typeof value !== 'string')
      throw refusal(file, name, `must be a ${name === 'load' ? 'number from 0' : 'text'}`)
  }
  return describe(request, ip, file)
}

function refusal(file: string, name: string, why: string): SallyportError {
  return new SallyportError('invalid_request', `${file}: ${name}: ${why}`)
}

async function parseFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await inputText(file))
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'is not valid JSON' : errorText(error)
    throw new SallyportError('invalid_request', `${inputName(file)} ${reason}`)
  }
}

function describe(request: Readonly<Record<string, unknown>>, ip: string | undefined, file: string): DescribedRequest {
  const address = ip ?? findText(request, 'ip') ?? findText(request, 'peer')
  if (address === undefined) throw new SallyportError('invalid_request', `${file}: no ip. Pass one with --ip`)
  const url = parseUrl(findText(request, 'url'))
  const userAgent = findText(request, 'userAgent') ?? findText(request, 'user_agent')
  const ja4 = findText(request, 'ja4')
  const headers = parseHeaders(request['headers'], file)
  const headlessFlags = parseFlags(request['headless_flags'], file)
  const version = findText(request, 'httpVersion')
  const spelled = isHttp1(version, request['headers'])
  const load = request['load']
  return {
    ip: address,
    method: findText(request, 'method') ?? 'GET',
    path:
      findText(request, 'path') ?? findText(request, 'target') ?? (url === undefined ? '/' : url.pathname + url.search),
    scheme: parseScheme(findText(request, 'scheme') ?? url?.protocol.slice(0, -1)),
    headers,
    userAgent,
    host: findText(request, 'host') ?? findAuthority(headers) ?? url?.host,
    httpVersion: HTTP_VERSIONS.find((known) => known === shortVersion(version)),
    ja4,
    load: typeof load === 'number' ? load : undefined,
    headlessFlags,
    pass: describePass(request['pass'], file),
    mcp: parseCallTexts(request['mcp'], file),
    ...(spelled === false && { spelled }),
  }
}

/** Reports whether a request of a HAR came by HTTP/1: programs write `h2`, `http/2.0`, `HTTP/3` or nothing for other versions. */
function isHttp1(version: string | undefined, headers: unknown): boolean | undefined {
  const isPseudo = (item: unknown): boolean => findText(toRecord(item) ?? {}, 'name')?.startsWith(':') === true
  if (Array.isArray(headers) && headers.some(isPseudo)) return false
  return version === undefined ? undefined : /^http\/1/i.test(version)
}

/** Writes the version of HTTP as rules do: programs write `HTTP/1.1`, `h2`, `http/2.0`. */
function shortVersion(version = ''): string {
  return version.replace(/^(?:http\/|h)(?=\d)/i, '').replace(/^([2-9])\.0$/, '$1')
}

function parseUrl(text: string | undefined): URL | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined
}

function parseScheme(text: string | undefined): DescribedRequest['scheme'] {
  return text === 'http' || text === 'https' ? text : 'unknown'
}

/** Parses headers from an object or from a HAR's list: a repeated field becomes a list. */
function parseHeaders(given: unknown, file: string): DescribedRequest['headers'] {
  if (given === undefined) return undefined
  if (typeof given !== 'object' || given === null) throw refusal(file, 'headers', 'must be an object')
  const pairs: readonly (readonly [string, unknown])[] = Array.isArray(given)
    ? given.map((item) => [findText(toRecord(item) ?? {}, 'name') ?? '', toRecord(item)?.['value']])
    : Object.entries(given)
  const kept = new Map<string, string[]>()
  for (const [name, given] of pairs) {
    const values: readonly unknown[] = Array.isArray(given) ? given : [given]
    const texts = values.filter((value) => typeof value === 'string')
    if (texts.length < values.length) throw refusal(file, `headers.${name}`, 'must be a text')
    if (name !== '') kept.set(name, [...(kept.get(name) ?? []), ...texts])
  }
  return Object.fromEntries(kept)
}

function parseFlags(given: unknown, file: string): readonly string[] | undefined {
  if (given === undefined) return undefined
  const flags = Object.entries(toRecord(given) ?? { flags: undefined })
  if (!flags.every(([, seen]) => typeof seen === 'boolean')) {
    throw refusal(file, 'headless_flags', 'must be an object with true or false values')
  }
  return flags.flatMap(([name, seen]) => (seen ? [name] : []))
}

function parseCallTexts(given: unknown, file: string): string[] | undefined {
  if (given === undefined) return undefined
  const texts: readonly unknown[] = Array.isArray(given) ? given : []
  const calls = texts.filter((text): text is string => typeof text === 'string' && text !== '')
  if (calls.length === 0 || calls.length < texts.length)
    throw refusal(file, 'mcp', 'must list calls, such as "tools/call search"')
  return calls
}

/** Reads a pass in the form of `policy test`; a HAR has none. */
function describePass(given: unknown, file: string): DescribedRequest['pass'] {
  if (given === undefined || given === 'none') return undefined
  const { level, age = 0 } = toRecord(given) ?? {}
  const known = CHALLENGE_LEVELS.find((one) => one === level)
  if (known === undefined || typeof age !== 'number' || !Number.isInteger(age) || age < 0) {
    throw refusal(file, 'pass', 'must be none, or { level: 1, 2 or 3, age: seconds }')
  }
  return { level: known, age }
}

function findText(record: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = record[name]
  return typeof value === 'string' ? value : undefined
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined
}
