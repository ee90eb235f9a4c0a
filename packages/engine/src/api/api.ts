import { createDirectory, type Directory, invalidField, SallyportError, type Snapshot } from '@sallyport/core'
import { withoutKeys } from '#accounts'
import { type Admission, createAdmissions, UNLIMITED_ADMISSION } from './admission.ts'
import { describeFailure, failureAnswer, headersWriter, successHeaders } from './answer.ts'
import type { RateLimit } from './client-admission.ts'
import { readInput } from './input.ts'
import { listedIn } from './listed.ts'
import { loadDocument } from './openapi.ts'
import { isReferencePage, pageAnswer } from './reference.ts'
import type { Api, ApiRequest, ApiResponse } from './request.ts'
import type { Route, RouteContext } from './route.ts'
import { createRouter, type Match } from './router.ts'
import { ROUTES } from './routes/index.ts'
import { type ApiServices, report } from './services.ts'

/** Characters of an unknown path that the answer repeats. */
const MAX_PATH = 200

type RouteMatch = Extract<Match, { readonly kind: 'route' }>

/** Creates the `/v1` API over its services: one function from request to response, independent of any framework. */
export function createApi(services: ApiServices, routes: readonly Route[] = ROUTES): Api {
  const findRoute = createRouter(routes)
  const { admit, count, settle } = createAdmissions(services)
  const successes = new Map(routes.map((route) => [route, createSuccess(route)]))
  const findDirectory = holdDirectory()
  const document = () => loadDocument(routes)

  async function run(match: RouteMatch, request: ApiRequest): Promise<ApiResponse> {
    const { route } = match
    let admission = UNLIMITED_ADMISSION
    const proceed = (next: Admission) => {
      admission = next
      if (!next.allowed) throw new SallyportError('rate_limit_exceeded')
    }
    try {
      proceed(await admit(route.access, request))
      const reading = read(match, request, admission)
      // Before the work: calls at once could otherwise all have it done before the first is counted.
      if (admission.pending !== undefined) proceed(await count(admission.pending, await readStatus(reading)))
      const { input, context } = await reading
      const answered = await route.handle(input, context)
      return (successes.get(route) ?? createSuccess(route))(answered, admission.rateLimit, request)
    } catch (error) {
      const failure = describeFailure(error)
      if (failure.bug) report(services, error)
      const { rateLimit, retryAfter = 1 } = await settle(admission, failure.status)
      return failureAnswer(failure, request.id, headersWriter(route.headers ?? {})(rateLimit), retryAfter)
    }
  }

  async function read({ route, params }: RouteMatch, request: ApiRequest, admission: Admission) {
    const input = await readInput(route, params, request)
    const context = buildContext(request, admission)
    route.check?.(input, context)
    return { input, context }
  }

  function buildContext(request: ApiRequest, { allowance }: Admission): RouteContext {
    const snapshot = services.snapshots.current()
    return { request, services, snapshot, directory: () => findDirectory(snapshot), document, allowance }
  }

  return async (request) => {
    if (request.path !== '/v1' && !request.path.startsWith('/v1/')) return undefined
    // Sallyport answers every path below /v1, also one without a row: 404 with an ErrorResponse.
    const match = findRoute(request.method, request.path)
    switch (match.kind) {
      case 'route':
        return run(match, request)
      case 'method':
        return refuse(request, new SallyportError('method_not_allowed'), { Allow: match.allow })
      case 'malformed':
        return refuse(request, invalidField('path', 'not valid percent-encoding'))
      case 'none':
        return refuse(
          request,
          new SallyportError('not_found', NO_PATH, { path: withoutKeys(request.path.slice(0, MAX_PATH)) }),
        )
    }
  }
}

const NO_PATH =
  'The API has no such path. If the site has its own /v1, move the API with api.base, or disable it with api.enabled.'

/** Makes the 200s of a route: its headers, and those members of a result that its schema lists. */
function createSuccess(
  route: Route,
): (answered: unknown, rateLimit: RateLimit | undefined, request: ApiRequest) => ApiResponse {
  const writeHeaders = headersWriter(successHeaders(route))
  const listed = listedIn(route.response)
  return (answered, rateLimit, request) => {
    if (isReferencePage(answered)) return pageAnswer(answered, writeHeaders(rateLimit), request)
    return { status: 200, headers: writeHeaders(rateLimit), body: JSON.stringify(listed(answered)) }
  }
}

/** Returns the status of a call as far as it was read: 200, or the status of its failure. */
function readStatus(reading: Promise<unknown>): Promise<number> {
  return reading.then(
    () => 200,
    (error: unknown) => describeFailure(error).status,
  )
}

/** Refuses a request that matches no row: nothing was admitted, so nothing is counted. */
function refuse(
  { id }: ApiRequest,
  error: SallyportError,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  return failureAnswer(describeFailure(error), id, headers)
}

/** Builds the directory of a snapshot on first use, and caches it until the snapshot changes. */
function holdDirectory(): (snapshot: Snapshot) => Directory {
  let held: { readonly snapshot: Snapshot; readonly directory: Directory } | undefined
  return (snapshot) => {
    if (held?.snapshot === snapshot) return held.directory
    const { systems, networks, rangesLoaded } = snapshot
    // An empty directory would claim that there are no autonomous systems, and be cached for an hour.
    if (systems === undefined || networks === undefined) throw new SallyportError('service_unavailable')
    held = { snapshot, directory: createDirectory(systems, networks, rangesLoaded) }
    return held.directory
  }
}
