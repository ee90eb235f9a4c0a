import type { InspectionRequest } from '@sallyport/core'

export function requestFrom(peer: string, fields: readonly string[] = []): InspectionRequest {
  return { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields }
}

export function apiRequest(path: string, key?: string) {
  const fields = key === undefined ? [] : ['Authorization', `Bearer ${key}`]
  return {
    ...requestFrom('8.1.0.1', fields),
    target: path,
    path,
    query: new URLSearchParams(),
    json: async () => undefined,
  }
}
