import type { Api, ApiRequest, ApiResponse } from './request.ts'

/** How long a browser need not ask again. */
const MAX_AGE_SECONDS = 600

const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, X-SVC-Demo'

/**
 * The same API for pages of these origins, exactly as browsers write them (Fetch standard, CORS protocol). Cookies play no
 * part: a call shows its key.
 */
export function withCors(api: Api, origins: readonly string[]): Api {
  if (origins.length === 0) return api
  return async (request) => {
    const origin = fieldOf(request, 'origin')
    const isListed = origin !== undefined && origins.includes(origin)
    const isAsking =
      isListed && request.method === 'OPTIONS' && fieldOf(request, 'access-control-request-method') !== undefined
    if (isAsking && (request.path === '/v1' || request.path.startsWith('/v1/'))) return permission(origin)
    const response = await api(request)
    if (response === undefined) return undefined
    // Caches must not give one origin what was meant for another, nor for none.
    const { Vary: varied } = response.headers
    const headers = { ...response.headers, Vary: varied === undefined ? 'Origin' : `${varied}, Origin` }
    if (!isListed) return { ...response, headers }
    return {
      ...response,
      headers: { ...headers, 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED },
    }
  }
}

function permission(origin: string): ApiResponse {
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'GET, HEAD, POST',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type',
      'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
      'Cache-Control': 'no-store',
      Vary: 'Origin',
    },
    body: '',
  }
}

function fieldOf({ fields }: ApiRequest, name: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index]?.toLowerCase() === name) return fields[index + 1]
  }
  return undefined
}
