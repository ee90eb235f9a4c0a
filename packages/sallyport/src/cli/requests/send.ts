import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

const WAIT_MS = 10_000
const MAX_BODY = 65_536

export interface Answer {
  readonly status: number
  readonly id: string
  readonly body: string
}

/** Sends one request with exactly these fields, name and value by turns, over a connection of its own. */
export function sendRequest(url: URL, method: string, fields: readonly string[], sent?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const headers = [...fields]
    const request = send(url, { method, headers, agent: false, timeout: WAIT_MS }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        if (body.length < MAX_BODY) body += part
      })
      response.once('error', reject)
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, id: String(response.headers['x-request-id'] ?? ''), body }),
      )
    })
    request.once('timeout', () => request.destroy(new Error('no response within 10 s')))
    request.once('error', reject)
    request.end(sent)
  })
}
