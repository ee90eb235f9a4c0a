import { createDirectory, type Directory, SallyportError, type Snapshot } from '@sallyport/core'
import { type Access, type Admission, createAdmissions, UNLIMITED_ADMISSION } from './admission.ts'
import { failureAnswer, failureOf, headersWriter, successHeaders } from './answer.ts'
import { readInput } from './input.ts'
import { openApiDocument } from './openapi.ts'
import type { Api, ApiRequest, ApiResponse } from './request.ts'
import type { Route, RouteContext } from './route.ts'
import { createRouter, type Match } from './router.ts'
import { ROUTES } from './routes/index.ts'
import { type ApiServices, report } from './services.ts'

/** The `/v1` API over its services: one function from request to answer, independent of any framework. */
export function createApi(services: ApiServices, routes: readonly Route[] = ROUTES): Api {
  const router = createRouter(routes)
  const { admit, settle } = createAdmissions(services)
  const headersOf = new Map(routes.map((route) => [route, headersWriter(successHeaders(route))]))
  const directoryOf = directoryHolder()
  const document = once(() => openApiDocument(routes))

  async function run(
    route: Route,
    match: Match & { readonly kind: 'route' },
    request: ApiRequest,
  ): Promise<ApiResponse> {
    let admission = UNLIMITED_ADMISSION
    try {
      admission = await admit(route.access, request)
      if (!admission.allowed) throw new SallyportError('rate_limit_exceeded')
      const input = await readInput(route, match.params, request)
      const body = await route.handle(input, contextOf(request, admission))
      const headers = headersOf.get(route)?.(admission.rateLimit) ?? {}
      return { status: 200, headers, body: JSON.stringify(body) }
    } catch (error) {
      const failure = failureOf(error)
      if (failure.bug) report(services, error)
      const { rateLimit } = await settle(admission, failure.status)
      return failureAnswer(
        failure,
        headersWriter(route.headers ?? {})(rateLimit),
        retryAfter(route.access, rateLimit?.resetAt),
      )
    }
  }

  function contextOf(request: ApiRequest, { allowance }: Admission): RouteContext {
    const snapshot = services.snapshots.current()
    const directory = () => directoryOf(snapshot)
    if (allowance === undefined) return { request, services, snapshot, directory, document }
    return { request, services, snapshot, directory, document, allowance }
  }

  function retryAfter(access: Access, resetAt = 0): number {
    const wait = Math.max(1, Math.ceil(resetAt - services.clock.now() / 1000))
    // The end of a window is in whole seconds: rounded up, the wait could exceed the window.
    return access.kind === 'client' ? Math.min(wait, access.limit.windowSeconds) : wait
  }

  return async (request) => {
    if (request.path !== '/v1' && !request.path.startsWith('/v1/')) return undefined
    const match = router.match(request.method, request.path)
    switch (match.kind) {
      case 'route':
        return run(match.route, match, request)
      case 'method':
        return refusal(new SallyportError('method_not_allowed'), { Allow: match.allow })
      case 'malformed':
        return refusal(new SallyportError('invalid_request', 'path: not valid percent-encoding'))
      case 'none':
        return refusal(new SallyportError('not_found'))
    }
  }
}

/** The answer to a request that matches no row: nothing was admitted, so nothing is counted. */
function refusal(error: SallyportError, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  return failureAnswer(failureOf(error), headers, 0)
}

/** Builds the directory of a snapshot on first use, and caches it until the snapshot changes. */
function directoryHolder(): (snapshot: Snapshot) => Directory {
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

function once<T>(build: () => T): () => T {
  let built: { readonly value: T } | undefined
  return () => {
    built ??= { value: build() }
    return built.value
  }
}
