import { type CreateDocumentOptions, createDocument, type oas31, type ZodOpenApiOperationObject } from 'zod-openapi'
import type { Route } from '../src/api/route.ts'
import { ErrorResponse, RateLimitResponse } from '../src/api/schemas/account.ts'

/** The interface description carries this version (specification: Versioning). */
const VERSION = '1.1.0'

const JSON_TYPE = 'application/json'

/** Says what each error status of the API means. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'The input is not valid, or it does not resolve.',
  401: 'The API key is missing or not valid.',
  404: 'The autonomous system or the attestation does not exist.',
  405: 'The path does not support this method; `Allow` lists those that it supports.',
  413: 'The body is larger than 64 KiB.',
  429: 'The rate limit or the quota is exceeded.',
  500: 'Internal server error.',
  503: 'The service is temporarily unavailable.',
}

/** Operations that return a page or describe the others: an example would repeat the whole document. */
export const UNSHOWN: readonly string[] = ['index', 'docs', 'openapi']

const TAGS: Readonly<Record<string, string>> = {
  Lookup: 'Look up addresses, ranges, hostnames and URLs.',
  Crawlers: 'Verify that an address belongs to the crawler that it claims to be.',
  'ASN directory': 'List autonomous systems, and search them by name or number.',
  Network: 'Look up one property of an address.',
  WHOIS: 'Look up the registration of a domain.',
  Agents: 'Judge a visitor by address and headers.',
  Provenance: 'Attest the jurisdiction of a connection, and export the evidence.',
  Account: 'Read the quota of a key.',
  Document: 'Read the description of the API.',
}

const DESCRIPTION =
  'Network class, geolocation and ownership of IP addresses, ranges, hostnames and URLs. An unknown path fails with 404 ' +
  '`not_found`, and an unsupported method with 405 `method_not_allowed`; HEAD returns what GET does, without the body. ' +
  'Invalid percent-encoding fails with 400 `invalid_request`. If a query parameter is repeated, the first value counts.'

/** Builds the OpenAPI 3.1 document from the rows; `examples` holds a 200 of each operation. */
export function openApiDocument(
  routes: readonly Route[],
  examples: Readonly<Record<string, unknown>>,
): oas31.OpenAPIObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const route of routes) {
    const operation = describeOperation(route, examples[route.operationId])
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation }
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Sallyport',
        version: VERSION,
        description: DESCRIPTION,
        contact: { name: 'Sallyport', url: 'https://github.com/sallyport/sallyport' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: TAGS[name] ?? '' })),
      servers: [{ url: '/' }],
      security: [{ bearerAuth: [] }],
      paths,
      components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } }, headers: HEADERS },
    },
    { override },
  )
  for (const route of routes) exemplify(document, route)
  return document
}

/** Sets the parameters of the row's example, which is a call that works. */
function exemplify({ paths }: oas31.OpenAPIObject, { path, method, example }: Route): void {
  const operation = paths?.[path]?.[method === 'GET' ? 'get' : 'post']
  const url = new URL(example?.path ?? path, 'http://localhost')
  const segments = url.pathname.split('/')
  for (const parameter of operation?.parameters ?? []) {
    if (!('name' in parameter)) continue
    const at = path.split('/').indexOf(`{${parameter.name}}`)
    const value = at === -1 ? url.searchParams.get(parameter.name) : decodeURIComponent(segments[at] ?? '')
    if (value !== null) parameter.example = isInteger(parameter) ? Number(value) : value
  }
}

function isInteger({ schema }: oas31.ParameterObject): boolean {
  return schema !== undefined && 'type' in schema && schema.type === 'integer'
}

/** Additions of zod that the wire does not mean: closed objects, and the bounds of every exact integer. */
const override: NonNullable<CreateDocumentOptions['override']> = ({ jsonSchema }) => {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

const COUNT = { type: 'integer', format: 'int64' } as const

const HEADERS: Readonly<Record<string, oas31.HeaderObject>> = {
  'X-RateLimit-Limit': { description: 'Maximum requests allowed in the current window.', schema: COUNT },
  'X-RateLimit-Remaining': { description: 'Requests remaining in the current window.', schema: COUNT },
  'X-RateLimit-Reset': { description: 'Unix timestamp at which the window resets.', schema: COUNT },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  Allow: { description: 'Methods that the path supports.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'Authentication scheme.', schema: { type: 'string' } },
}

const LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

function describeOperation(route: Route, example: unknown): ZodOpenApiOperationObject {
  const { operationId, tag, summary, answer, description = answer, access, params, query, body } = route
  const requestParams = { ...(params && { path: params }), ...(query && { query }) }
  const content = body && { [JSON_TYPE]: { schema: body, example: route.example?.body } }
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(access.kind !== 'key' && { security: [] }),
    ...((params ?? query) && { requestParams }),
    ...(content && { requestBody: { required: true, content } }),
    responses: {
      200: {
        description: answer,
        headers: { ...headerRefs(access.kind === 'open' ? [] : LIMIT_HEADERS), ...fixedHeaders(route) },
        content: {
          [route.mediaType ?? JSON_TYPE]: { schema: route.response, ...(example !== undefined && { example }) },
        },
      },
      ...Object.fromEntries(errorStatuses(route).map((status) => [status, errorAnswer(status)])),
    },
  }
}

/**
 * Lists the statuses of the row, and those of the whole API: 405 for other methods of the path, 413 where a body is read, 429 where calls
 * without a valid key are counted, 503 where a store must answer.
 */
function errorStatuses({ errors, body, access }: Route): readonly number[] {
  const ours = [405, ...(body === undefined ? [] : [413]), ...(access.kind === 'key' ? [429] : []), 503]
  return [...new Set([...errors, ...ours])].toSorted((x, y) => x - y)
}

function errorAnswer(status: number) {
  return {
    description: STATUS_TEXTS[status] ?? '',
    headers: headerRefs(ERROR_HEADERS[status] ?? LIMIT_HEADERS),
    content: { [JSON_TYPE]: { schema: status === 429 ? RateLimitResponse : ErrorResponse } },
  }
}

/** Headers of error statuses; all others have those of the rate limit. */
const ERROR_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: [...LIMIT_HEADERS, 'Retry-After'],
  503: ['Retry-After'],
}

function fixedHeaders({ headers = {}, cache = 'no-store' }: Route): Record<string, oas31.HeaderObject> {
  const fixed = Object.entries({ 'Cache-Control': cache, ...headers })
  return Object.fromEntries(fixed.map(([name, value]) => [name, { schema: { type: 'string', const: value } }]))
}

function headerRefs(names: readonly string[]): Record<string, oas31.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
