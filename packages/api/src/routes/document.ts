import { z } from 'zod'
import { defineRoute } from '../route.ts'

/** Where the OpenAPI document of the API is read; the document does not describe itself. */
export const openapi = defineRoute({
  method: 'GET',
  path: '/v1/openapi.json',
  access: { kind: 'open' },
  operationId: 'openapi',
  tag: 'Document',
  summary: 'The OpenAPI document.',
  errors: [],
  response: z.unknown(),
  answer: 'OpenAPI 3.1.',
  handle: (_input, { document }) => document(),
})
