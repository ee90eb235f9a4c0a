import { request } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ExampleVisitor } from './example-visitors.ts'
import type { ProxyHost } from './gate/options.ts'

/** What the example site needs of the proxy in front of it. */
export interface ExampleFront {
  readonly sallyport: ProxyHost
  /** `http://host:port` of the proxy; absent until it listens. */
  readonly url: () => string | undefined
  /** Of the page that explains requests; absent where there is none. */
  readonly consoleUrl: () => string | undefined
  readonly clientHeader: string
}

/** What became of a visit. */
export interface Visit {
  readonly status: number
  readonly id: string
  readonly body: string
  readonly decision: Decision
  readonly curl: string
}

const PATH = '/articles/gates'
const MAX_BODY = 65_536
const LOOPBACK = '127.0.0.1'

/** Whether visitors can be made up: the proxy has to believe the address that this site names. */
export function canVisit({ sallyport, url }: ExampleFront): boolean {
  return sallyport.isTrusted?.(LOOPBACK) === true && url()?.startsWith('http://') === true
}

/** Sends a visitor through the gate to a page of this site. Rejects where the proxy does not answer. */
export async function visit(front: ExampleFront, visitor: ExampleVisitor): Promise<Visit> {
  const { address, userAgent = 'curl/8.5.0', fields: more = ['Accept', '*/*'] } = visitor
  const url = new URL(PATH, front.url())
  const fields = ['Host', url.host, 'User-Agent', userAgent, ...more, front.clientHeader, address]
  const answer = await answerOf(url, fields)
  const decision = front.sallyport.decide({
    ...{ peer: LOOPBACK, method: 'GET', target: PATH, scheme: 'http', httpVersion: '1.1', fields },
  })
  const agent = visitor.userAgent === undefined ? '' : `-A '${visitor.userAgent}' `
  return { ...answer, decision, curl: `curl ${agent}-H '${front.clientHeader}: ${address}' ${url}` }
}

function answerOf(url: URL, fields: readonly string[]): Promise<Pick<Visit, 'status' | 'id' | 'body'>> {
  return new Promise((resolve, reject) => {
    // Identity, so that the page can be shown as it comes.
    const headers = fields.map((field, index) => (fields[index - 1] === 'Accept-Encoding' ? 'identity' : field))
    const asked = request(url, { headers, agent: false, timeout: 5_000 }, (response) => {
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
    asked.once('timeout', () => asked.destroy(new Error('the proxy did not answer in time')))
    asked.once('error', reject)
    asked.end()
  })
}
