import {
  type Action,
  type Decision,
  ERRORS,
  type ErrorCode,
  type InspectionRequest,
  type NetworkClass,
  SallyportError,
} from '@sallyport/core'
import type { Api, ApiResponse } from '@sallyport/engine'
import type { ProxyHost } from '@sallyport/proxy'

/** A visitor of the conformance table and the verdict headers that the site must see about them, in order. */
export interface Visitor {
  /** Given as `X-Forwarded-For`; loopback is a trusted proxy in the tests. */
  readonly address: string
  readonly verdict: readonly string[]
}

/** The visitors of the conformance table, and the Sallyport they meet. The table knows nothing else of it. */
export interface Scene {
  readonly allowed: Visitor
  readonly flagged: Visitor
  readonly blocked: Visitor
  /** The API accepts this key. */
  readonly key: string
  readonly enforcing: ProxyHost
  readonly monitoring: ProxyHost
}

interface Made {
  readonly action: Action
  readonly networkClass: NetworkClass
  readonly asn?: number | undefined
  readonly country?: string | undefined
}

const MADE: Readonly<Record<string, Made>> = {
  '192.0.2.1': { action: 'allow', networkClass: 'residential_clean', asn: 64496, country: 'DE' },
  '192.0.2.2': { action: 'flag', networkClass: 'hosting', asn: 64497 },
  '192.0.2.3': { action: 'block', networkClass: 'tor', asn: 64498, country: 'NL' },
}
const STRANGER: Made = { action: 'allow', networkClass: 'unknown' }
const KEY = 'key-of-the-made-scene'

/** A scene that needs no data: three made visitors, and an API of a few routes that answer as /v1 does. */
export function madeScene(): Scene {
  return {
    allowed: visitor(
      '192.0.2.1',
      'action allow network-class residential_clean bot-probability 0 asn AS64496 country DE',
    ),
    flagged: visitor('192.0.2.2', 'action flag network-class hosting bot-probability 0 asn AS64497'),
    blocked: visitor('192.0.2.3', 'action block network-class tor bot-probability 0 asn AS64498 country NL'),
    key: KEY,
    enforcing: { ...HOST, decide: (request) => decide(request, true) },
    monitoring: { ...HOST, decide: (request) => decide(request, false) },
  }
}

/** Creates a visitor with the names and values of its verdict headers, without their prefix. */
export function visitor(address: string, verdict: string): Visitor {
  return { address, verdict: verdict.split(' ').map((text, at) => (at % 2 === 0 ? `sallyport-${text}` : text)) }
}

function readAddress(fields: readonly string[]): string {
  const at = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-forwarded-for')
  return fields[at + 1] ?? ''
}

function decide({ id, fields, target }: InspectionRequest, enforce: boolean): Decision {
  const address = readAddress(fields)
  const made = MADE[address] ?? STRANGER
  return {
    id,
    action: made.action,
    enforced: made.action === 'allow' || enforce,
    ...(target.endsWith('/tried') && { trial: { rule: 'try-it', action: 'block' } }),
    ...(made.action === 'block' && target.endsWith('/by-law') && { status: 451 }),
    reasons: [{ id: `network:${made.networkClass}`, text: `The made network of ${address}.` }],
    inspection: {
      at: '2026-11-01T00:00:00.000Z',
      peer: '127.0.0.1',
      client: { address, via: 'header', malformed: false },
      request: { method: 'GET', path: '/' },
      network: {
        reserved: { reserved: false },
        verdict: { classification: made.networkClass, anonymized: false, confidence: 1, method: 'asn' },
        rule: 'none',
        provider: '',
        asType: 'unknown',
        agreeing: [],
        asn: made.asn,
      },
      agent: { class: 'human', confidence: 1, botProbability: 0, basis: 'none', headless: false, reasons: [] },
      country: made.country,
      degraded: [],
    },
  }
}

const ROUTES: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/v1': 'GET',
  '/v1/openapi.json': 'GET',
  '/v1/myip': 'GET',
  '/v1/demo/': 'GET',
  '/v1/ip/lookup': 'POST',
}

const api: Api = async (request) => {
  if (request.path !== '/v1' && !request.path.startsWith('/v1/')) return undefined
  try {
    decodeURIComponent(request.path)
  } catch {
    return failure('invalid_request')
  }
  const method = ROUTES[request.path.replace(/^(\/v1\/demo\/).+/, '$1')]
  if (method === undefined) return failure('not_found')
  if (request.method !== method && !(method === 'GET' && request.method === 'HEAD')) {
    return failure('method_not_allowed', { allow: method === 'GET' ? 'GET, HEAD' : method })
  }
  if (request.path.startsWith('/v1/demo/')) return failure('invalid_ip')
  if (request.path === '/v1') return ok({ name: 'Sallyport' })
  if (method === 'GET') return ok({ openapi: '3.1.0', query: [...request.query] })
  const bearers = request.fields.filter((field) => field === `Bearer ${KEY}`)
  if (bearers.length !== 1) return failure('unauthorized')
  try {
    return ok({ target: await request.json() })
  } catch (error) {
    return failure(error instanceof SallyportError ? error.code : 'internal_error')
  }
}

/** Every peer is a trusted proxy. */
const HOST = {
  api,
  sources: () => [],
  isTrusted: () => true,
  isBrowser: ({ fields }: InspectionRequest) => fields.some((field) => field.startsWith('ELinks/')),
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

function ok(body: unknown): ApiResponse {
  return { status: 200, headers: JSON_HEADERS, body: JSON.stringify(body) }
}

function failure(error: ErrorCode, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  const { status, message } = ERRORS[error]
  return { status: status ?? 500, headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify({ error, message }) }
}
