import type { Directory, Snapshot } from '@sallyport/core'
import type { z } from 'zod'
import type { Access, Allowance } from './admission.ts'
import type { ApiDocument } from './openapi.ts'
import type { ApiRequest } from './request.ts'
import type { ApiServices } from './services.ts'

/** Holds everything that a route's `handle` answers from. */
export interface RouteContext {
  readonly request: ApiRequest
  readonly services: ApiServices
  /** The whole request reads one snapshot, so that no response mixes two. */
  readonly snapshot: Snapshot
  /** Returns the AS directory of that snapshot; throws `service_unavailable` when its data is not loaded. */
  directory(): Directory
  /** Loads the OpenAPI document of the API. */
  document(): Promise<ApiDocument>
  /** The rest of the account's allowance, which only keyed routes have. */
  readonly allowance?: Allowance | undefined
}

type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

/** The parts of a request, read by the schemas of its row; a part without a schema is `undefined`. */
interface TypedInput<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> {
  readonly params: z.output<Params>
  readonly query: z.output<Query>
  readonly body: z.output<Body>
}

/** A row with its schemas, which give `handle` the types of its input and result. Validation, OpenAPI and the wire tests read it. */
interface TypedRoute<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Response extends z.ZodType,
> {
  readonly method: 'GET' | 'POST'
  /** Segments are literals or `{name}`. */
  readonly path: string
  readonly access: Access
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string | undefined
  /** Error statuses of the specification's table of endpoints; the document adds the errors of the whole API. */
  readonly errors: readonly number[]
  /** Every response of this route has these headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** `Cache-Control` of a 200; every other answer is `no-store`. */
  readonly cache?: string | undefined
  /** Media type of a 200; default JSON. */
  readonly mediaType?: string | undefined
  /** Describes a 200. */
  readonly answer: string
  /** Shows a call that succeeds: its path with the query, and its body. */
  readonly example?:
    | { readonly path: string; readonly body?: Readonly<Record<string, unknown>> | undefined }
    | undefined
  readonly params?: Params | undefined
  readonly query?: Query | undefined
  readonly body?: Body | undefined
  readonly response: Response
  /** Throws for input that its schemas cannot refuse, before the call is counted; does no work that is worth a limit. */
  check?(input: TypedInput<Params, Query, Body>, context: RouteContext): void
  handle(
    input: TypedInput<Params, Query, Body>,
    context: RouteContext,
  ): DeepReadonly<z.output<Response>> | Promise<DeepReadonly<z.output<Response>>>
}

/** Describes one row of the route table. */
export type Route = TypedRoute<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>

export type RouteInput = Parameters<Route['handle']>[0]

/** Checks a row against its own schemas; the types end here, because a table holds rows of every kind. */
export function defineRoute<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Response extends z.ZodType,
>(
  method: Route['method'],
  path: string,
  route: Omit<TypedRoute<Params, Query, Body, Response>, 'method' | 'path'>,
): Route {
  return { method, path, ...route } as Route
}
