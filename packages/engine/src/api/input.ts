import { invalidField, SallyportError } from '@sallyport/core'
import type { z } from 'zod'
import { type FieldFault, fieldFaults, MAX_FAULTS } from './faults.ts'
import { misspelledFaults } from './misspelled.ts'
import type { ApiRequest } from './request.ts'
import type { Route, RouteInput } from './route.ts'

const MAX_DEPTH = 32
const MAX_KEYS = 1000

/** Reads a request by the schemas of its row. Throws `invalid_request`; the body is read last, and only if it has a schema. */
export async function readInput(
  route: Route,
  params: Readonly<Record<string, string | undefined>>,
  request: ApiRequest,
): Promise<RouteInput> {
  const input: { readonly [Part in keyof RouteInput]: unknown } = {
    params: route.params && parse(route.params, requireDecoded(params), 'path'),
    query: route.query && parse(route.query, firstValues(request.query), 'query'),
    body: route.body && parseBody(route.body, await readBody(request)),
  }
  return input as RouteInput
}

/** Issues carry what was given: a missing value has a message of its own. */
const REPORTED = { reportInput: true }

function parse(schema: z.ZodType, value: unknown, place: string): unknown {
  const result = schema.safeParse(value, REPORTED)
  if (result.success) return result.data
  throw makeRefusal(fieldFaults(result.error.issues, place), place)
}

/** A misspelled name comes first: what is missing may be missing by that. */
function parseBody(schema: z.ZodType, value: unknown): unknown {
  const misspelled = misspelledFaults(schema, value)
  const result = schema.safeParse(value, REPORTED)
  if (result.success && misspelled.length === 0) return result.data
  const others = result.success ? [] : fieldFaults(result.error.issues, 'body')
  throw makeRefusal([...misspelled, ...others].slice(0, MAX_FAULTS), 'body')
}

/** Makes an error with every fault by its field in the details; the first one, `field: sentence`, is the message. */
function makeRefusal(fields: readonly FieldFault[], place: string): SallyportError {
  const [first = { field: place, message: 'is not valid' }] = fields
  return new SallyportError('invalid_request', `${first.field}: ${first.message}`, { fields })
}

function requireDecoded(params: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const entries = Object.entries(params).map(([name, value]) => {
    if (value === undefined) throw invalidField(name, 'not valid percent-encoding')
    return [name, value]
  })
  return Object.fromEntries(entries)
}

function firstValues(query: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].reverse())
}

async function readBody(request: ApiRequest): Promise<unknown> {
  let body: unknown
  try {
    body = await request.json()
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidField('body', 'not valid JSON')
    throw error
  }
  refuseWide(body)
  return body
}

/** Refuses deep or wide JSON before anything walks it by recursion, where it could overflow the stack. */
function refuseWide(body: unknown): void {
  let keys = 0
  let level: readonly unknown[] = [body]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((value) => typeof value === 'object' && value !== null)
    if (depth === MAX_DEPTH && containers.length > 0) {
      throw invalidField('body', `nested deeper than ${MAX_DEPTH} levels`)
    }
    level = containers.flatMap((value) => Object.values(value))
    keys += level.length
    if (keys > MAX_KEYS) throw invalidField('body', `more than ${MAX_KEYS} keys`)
  }
}
