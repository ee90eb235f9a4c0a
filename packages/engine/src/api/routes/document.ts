import { SallyportError } from '@sallyport/core'
import { z } from 'zod'
import { defineRoute, type RouteContext } from '../route.ts'

/** An index for those who find the API by its address. */
const ApiIndex = z
  .object({
    name: z.string(),
    version: z.string().meta({ description: 'Version of the interface.' }),
    openapi: z.string().meta({ description: 'Path of the OpenAPI document.' }),
    docs: z.string().meta({ description: 'Path of the API reference; omitted where it is disabled.' }).optional(),
    operations: z.array(z.object({ method: z.string(), path: z.string(), summary: z.string() })),
  })
  .meta({ id: 'ApiIndex' })

const OpenApiDocument = z
  .unknown()
  .meta({ id: 'OpenApiDocument', description: 'A document of OpenAPI 3.1.', override: { type: 'object' } })

const ReferencePage = z
  .unknown()
  .meta({ id: 'ReferencePage', description: 'A page of HTML.', override: { type: 'string' } })

export const index = defineRoute('GET', '/v1', {
  access: { kind: 'open' },
  operationId: 'index',
  tag: 'Document',
  summary: 'List the operations of the API.',
  errors: [],
  response: ApiIndex,
  answer: 'The operations, and where they are documented.',
  async handle(_input, context) {
    const { info, paths } = await context.document()
    const base = readBase(context)
    return {
      name: info.title,
      version: info.version,
      openapi: `${base}/v1/openapi.json`,
      ...(paths['/v1/docs'] !== undefined && { docs: `${base}/v1/docs` }),
      operations: Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { summary }]) => ({
          method: method.toUpperCase(),
          path: `${base}${path}`,
          summary,
        })),
      ),
    }
  },
})

export const docs = defineRoute('GET', '/v1/docs', {
  access: { kind: 'open' },
  operationId: 'docs',
  tag: 'Document',
  summary: 'Open the API reference.',
  errors: [],
  // The page's own policy names its scripts by their hashes; a frame can be refused by a header alone.
  headers: { 'Content-Security-Policy': "frame-ancestors 'none'", 'Referrer-Policy': 'no-referrer' },
  mediaType: 'text/html; charset=utf-8',
  response: ReferencePage,
  answer: 'A page that loads nothing from other servers.',
  handle(_input, { services }) {
    if (services.reference === undefined) throw new SallyportError('service_unavailable')
    return services.reference()
  },
})

export const openapi = defineRoute('GET', '/v1/openapi.json', {
  access: { kind: 'open' },
  operationId: 'openapi',
  tag: 'Document',
  summary: 'Read the OpenAPI document.',
  errors: [],
  response: OpenApiDocument,
  answer: 'The OpenAPI document of this server.',
  handle: (_input, { document }) => document(),
})

/** The path before /v1 in the target as it was received: the API may be mounted anywhere. */
function readBase({ request: { target, path } }: RouteContext): string {
  // A target in absolute form names its site before the path (RFC 9112 3.2.2).
  const [received = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  const base = received.endsWith(path) ? received.slice(0, -path.length) : ''
  return /^(?:\/[\w.~-]+)*$/.test(base) ? base : ''
}
