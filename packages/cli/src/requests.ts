import { readFileSync } from 'node:fs'
import { type Decision, type InspectionRequest, parseAddress, SallyportError } from '@sallyport/core'
import type { PolicyTest, Sallyport } from 'sallyport'

/** A request that is told of, as files describe it. */
export type DescribedRequest = PolicyTest['request']

/** The decision about a described request: inline where its headers are known, else on what is told. */
export async function decideDescribed(sallyport: Sallyport, request: DescribedRequest): Promise<Decision> {
  const address = parseAddress(request.ip)
  if (address === undefined) throw new SallyportError('invalid_ip', `"${request.ip}" is not an IP address.`)
  const named = request.userAgent === undefined ? [] : ['User-Agent', request.userAgent]
  const { method, path: target, ja4 } = request
  if (request.headers === undefined) {
    const about = { fields: named, headersKnown: false, method, target }
    return sallyport.check(address, ja4 === undefined ? about : { ...about, ja4 })
  }
  const fields = [...Object.entries(request.headers).flat(), ...named]
  const seen: InspectionRequest = { peer: request.ip, method, target, scheme: request.scheme, httpVersion: '', fields }
  return sallyport.decide(ja4 === undefined ? seen : { ...seen, ja4 })
}

/**
 * The requests of a file: one request as JSON, in the form of `policy test` or of `POST /v1/agentscan/check`, or the
 * entries of a HAR, for which `ip` says who asked. Throws `invalid_request` that names the file.
 */
export function readRequests(file: string, ip: string | undefined): readonly DescribedRequest[] {
  const document = parseFile(file)
  const entries = recordOf(recordOf(document)?.['log'])?.['entries']
  const requests = Array.isArray(entries) ? entries.map((entry) => recordOf(recordOf(entry)?.['request'])) : [document]
  return requests.map((request) => describe(recordOf(request) ?? {}, ip, file))
}

function parseFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'not valid JSON' : `cannot be read: ${codeOf(error)}`
    throw new SallyportError('invalid_request', `${file}: ${reason}`)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
}

function describe(request: Record<string, unknown>, ip: string | undefined, file: string): DescribedRequest {
  const address = ip ?? textOf(request, 'ip') ?? textOf(request, 'peer')
  if (address === undefined) throw new SallyportError('invalid_request', `${file}: no ip; name one with --ip`)
  const url = urlOf(textOf(request, 'url'))
  const userAgent = textOf(request, 'userAgent') ?? textOf(request, 'user_agent')
  const ja4 = textOf(request, 'ja4')
  const headers = headersOf(request['headers'])
  return {
    ip: address,
    method: textOf(request, 'method') ?? 'GET',
    path: textOf(request, 'path') ?? textOf(request, 'target') ?? (url === undefined ? '/' : url.pathname + url.search),
    scheme: schemeOf(textOf(request, 'scheme') ?? url?.protocol.slice(0, -1)),
    ...(headers !== undefined && { headers }),
    ...(userAgent !== undefined && { userAgent }),
    ...(ja4 !== undefined && { ja4 }),
  }
}

function urlOf(text: string | undefined): URL | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined
}

function schemeOf(text: string | undefined): DescribedRequest['scheme'] {
  return text === 'http' || text === 'https' ? text : 'unknown'
}

/** Headers as an object, or as a HAR lists them; pseudo-headers of HTTP/2 are no headers. */
function headersOf(given: unknown): Record<string, string> | undefined {
  const pairs = Array.isArray(given)
    ? given.map((item) => [textOf(recordOf(item) ?? {}, 'name') ?? '', recordOf(item)?.['value']])
    : Object.entries(recordOf(given) ?? {})
  const kept = pairs.filter(
    ([name, value]) => typeof value === 'string' && name !== '' && !String(name).startsWith(':'),
  )
  return given === undefined ? undefined : Object.fromEntries(kept)
}

function textOf(record: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = record[name]
  return typeof value === 'string' ? value : undefined
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}
