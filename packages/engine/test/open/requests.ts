import type { InspectionRequest } from '@sallyport/core'
import type { Sallyport } from '../../src/open/index.ts'

export function requestFrom(peer: string, fields: readonly string[] = []): InspectionRequest {
  return { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields }
}

/** A call of `/v1`; with a body it is a POST. */
export function apiRequest(target: string, key?: string, body?: object) {
  const fields = key === undefined ? [] : ['Authorization', `Bearer ${key}`]
  const [path = '', query] = target.split('?')
  return {
    ...requestFrom('8.1.0.1', fields),
    method: body === undefined ? 'GET' : 'POST',
    target,
    path,
    query: new URLSearchParams(query),
    json: async () => body,
  }
}

/** Calls `/v1` and reads the answer. */
export async function callApi({ api }: Pick<Sallyport, 'api'>, ...call: Parameters<typeof apiRequest>) {
  const answer = await api(apiRequest(...call))
  if (typeof answer?.body !== 'string') throw new Error(`no answer of ${call[0]}`)
  return { status: answer.status, headers: answer.headers, json: JSON.parse(answer.body) }
}
