import { setImmediate } from 'node:timers/promises'
import {
  type AskedParts,
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
  parseUrl,
  readMcpRequest,
  refuses,
  SallyportError,
} from '@sallyport/core'
import { type PolicyTest, parseRequest, type Sallyport } from '@sallyport/engine'
import { inputName, inputText } from '../terminal/input.ts'

export interface DescribedRequest extends Readonly<PolicyTest['request']> {
  readonly ip: string
  readonly headless_flags?: Readonly<Record<string, boolean>> | undefined
  /** Whether header names have the client's spelling; absent: where not all names are in lower case. */
  readonly spelled?: boolean | undefined
}

/** Decides a described request: inline where its headers are known, else by the agent check. */
export async function decideDescribed(sallyport: Sallyport, request: DescribedRequest): Promise<Decision> {
  const address = parseAddress(request.ip)
  if (address === undefined) throw new SallyportError('invalid_ip', `"${request.ip}" is not an IP address.`)
  const { method, headers, ja4, mcp: texts } = request
  const flags = request.headless_flags
  const headlessFlags = flags && Object.keys(flags).filter((name) => flags[name])
  // The target is judged as the bytes that would have come.
  const target = Buffer.from(request.path).toString('latin1')
  const fields = listFields(request)
  const mcp = texts === undefined ? callsInHeaders(method, fields) : parseCalls(texts)
  const asked = { ...askedParts(request, fields, target), ...(mcp === 'unknown' && { mcp }) }
  const shared = { fields, method, target, pass: makePass(request), mcp: mcp === 'unknown' ? undefined : mcp, ja4 }
  const about = { ...shared, headersKnown: headers !== undefined, headlessFlags, asked }
  if (headers === undefined || headlessFlags !== undefined) return sallyport.check(address, about)
  const httpVersion = isSpelled(request) ? '' : '2.0'
  const seen: InspectionRequest = { ...shared, peer: request.ip, scheme: request.scheme, httpVersion }
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

function findAuthority(headers: unknown): string | undefined {
  const [first] = [toRecord(headers)[':authority']].flat()
  return typeof first === 'string' ? first : undefined
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

/** Reads the request of a JSON file, or the requests of a HAR, whose client is `ip`. Rejects with `invalid_request` that names the file. */
export async function readRequests(given: string, ip: string | undefined) {
  const file = inputName(given)
  const document = await parseFile(given)
  const entries = toRecord(toRecord(document)['log'])['entries']
  if (!Array.isArray(entries)) return { requests: [describe(document, ip, file)], skipped: 0 }
  const all = entries.map((entry) => toRecord(entry)['request'])
  const sent = all.filter((request) => !isLocal(toRecord(request)['url']))
  if (sent.length === 0) throw refusal(`${file}: log.entries: contains no request`)
  const requests = sent.map((request) => describe(request, ip, file, true))
  return { requests, skipped: entries.length - sent.length }
}

/** Reports whether a browser answers a URL itself: `data:`, `blob:`, `about:` or an extension. */
function isLocal(given: unknown): boolean {
  const url = readUrl(given)
  return url !== undefined && !/^(?:http|ws)s?:$/.test(url.protocol)
}

async function parseFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await inputText(file))
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'is not valid JSON' : errorText(error)
    throw refusal(`${inputName(file)} ${reason}`)
  }
}

/** Describes a request of a file. A hand-written request may have only members of the schema; a HAR has many more. */
function describe(given: unknown, own: string | undefined, file: string, isHar = false): DescribedRequest {
  if (!isRecord(given)) throw refusal(`${file}: request: must be an object`)
  const { peer, target, url: link, user_agent, request_id: _, httpVersion, ...all } = given
  const members: Members = isHar ? { method: all['method'] } : all
  const url = readUrl(link)
  const headers = foldHeaders(given['headers'])
  const { ip = peer, path = target ?? (url && url.pathname + url.search), userAgent = user_agent } = members
  const { host = findAuthority(headers) ?? url?.host, scheme = url && /^https?(?=:)/.exec(url.protocol)?.[0] } = members
  const address = own ?? ip
  if (address === undefined) throw refusal(`${file}: no ip. Pass one with --ip`)
  const version = HTTP_VERSIONS.find((known) => known === shortVersion(httpVersion))
  const named = { ...members, ip: address, path, userAgent, host, scheme, headers, httpVersion: version }
  try {
    return {
      ...parseRequest(named, file),
      ip: String(address),
      spelled: isAboveHttp1(httpVersion, given['headers']) ? false : undefined,
    }
  } catch (error) {
    throw refusal(errorText(error))
  }
}

function refusal(why: string): SallyportError {
  return new SallyportError('invalid_request', why)
}

/** Reports whether a request of a HAR came by HTTP/2 or 3: programs write `h2`, `http/2.0`, `HTTP/3` or an empty text for them. */
function isAboveHttp1(version: unknown, headers: unknown): boolean {
  const isPseudo = (item: unknown): boolean => String(toRecord(item)['name']).startsWith(':')
  if (Array.isArray(headers) && headers.some(isPseudo)) return true
  return version !== undefined && !/^http\/1/i.test(String(version))
}

/** Writes the version of HTTP as rules do: programs write `HTTP/1.1`, `h2`, `http/2.0`. */
function shortVersion(version: unknown): string {
  return String(version)
    .replace(/^(?:http\/|h)(?=\d)/i, '')
    .replace(/^([2-9])\.0$/, '$1')
}

function readUrl(text: unknown): URL | undefined {
  return typeof text === 'string' ? parseUrl(text) : undefined
}

/** Folds the list of headers of a HAR to an object: a repeated field becomes a list. */
function foldHeaders(given: unknown): unknown {
  if (!Array.isArray(given)) return given
  const folded = new Map<string, unknown[]>()
  for (const { name, value } of given.map(toRecord))
    if (typeof name === 'string') folded.set(name, [...(folded.get(name) ?? []), value])
  return Object.fromEntries(folded)
}

type Members = Readonly<Record<string, unknown>>

function toRecord(value: unknown): Members {
  return isRecord(value) ? value : {}
}
