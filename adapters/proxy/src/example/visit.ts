import { request } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ProxyHost } from '../gate/options.ts'
import type { ExampleAim, ExampleVisitor } from './visitors.ts'

/** The part of the proxy in front that the example site needs. */
export interface ExampleFront {
  readonly sallyport: ProxyHost
  /** `http://host:port` of the proxy; absent until it listens. */
  readonly url: () => string | undefined
  /** URL of the page that explains requests; absent where there is none. */
  readonly consoleUrl: () => string | undefined
  readonly clientHeader: string
  readonly visitors: readonly ExampleVisitor[]
  /** HTML at the end of every page. */
  readonly links: () => string
}

/** The outcome of a visit. */
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
  const url = new URL(PATH, front.url())
  const aim = { host: url.host, method: 'GET', target: PATH, scheme: 'http' } as const
  // A signature is good once, so what is sent, what is shown and what is copied are each signed.
  const fieldsOf = (): readonly string[] => [...fieldsOfOne(visitor, aim), front.clientHeader, visitor.address]
  const answer = await answerOf(url, fieldsOf())
  const decision = front.sallyport.decide({ ...aim, peer: LOOPBACK, httpVersion: '1.1', fields: fieldsOf() })
  return { ...answer, decision, curl: curlOf(url, fieldsOf()) }
}

function fieldsOfOne({ userAgent = 'curl/8.5.0', fields = ['Accept', '*/*'], sign }: ExampleVisitor, aim: ExampleAim) {
  return sign?.(aim) ?? ['Host', aim.host, 'User-Agent', userAgent, ...fields]
}

/** Fields that curl sends without being asked are left out. */
function curlOf(url: URL, fields: readonly string[]): string {
  const parts: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name = '', value = ''] = fields.slice(at, at + 2)
    if (name === 'Host' || (name === 'Accept' && value === '*/*')) continue
    if (name === 'User-Agent' && value.startsWith('curl/')) continue
    parts.push(name === 'User-Agent' ? `-A ${quoted(value)}` : `-H ${quoted(`${name}: ${value}`)}`)
  }
  return ['curl', ...parts, url.href].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
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
