import { request } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ProxyHost } from '../gate/options.ts'
import { curlOf } from './curl.ts'
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
  /** The decision about a request of this process, by its id; absent where another process took it, or it is long ago. */
  readonly decisionOf: (id: string) => Decision | undefined
}

/** One answer of the proxy. */
interface Answer {
  readonly status: number
  readonly id: string
  readonly body: string
}

/** The outcome of a visit: the last answer, and what was decided then. */
export interface Visit extends Answer {
  /** Statuses of all its requests, in their order. */
  readonly statuses: readonly number[]
  readonly decision: Decision
  readonly curl: string
}

const MAX_BODY = 65_536
const LOOPBACK = '127.0.0.1'

/** Whether visitors can be made up: the proxy has to believe the address that this site names. */
export function canVisit({ sallyport, url }: ExampleFront): boolean {
  return sallyport.isTrusted?.(LOOPBACK) === true && url()?.startsWith('http://') === true
}

/** Sends a visitor through the gate to pages of this site. Rejects where the proxy does not answer. */
export async function visit(front: ExampleFront, visitor: ExampleVisitor): Promise<Visit> {
  const { host } = new URL(front.url() ?? '')
  // A signature is good once, so what is sent, what is shown and what is copied are each signed.
  const fieldsOf = (target: string) => [...fieldsFor(visitor, { host, target }), front.clientHeader, visitor.address]
  const statuses: number[] = []
  let answer: Answer | undefined
  for (const path of visitor.paths) {
    answer = await answerOf(`http://${host}${path}`, fieldsOf(path))
    statuses.push(answer.status)
  }
  const [first, last = first] = [visitor.paths[0], visitor.paths.at(-1)]
  const asked = { ...aimAt(host, last), peer: LOOPBACK, httpVersion: '1.1', fields: fieldsOf(last) }
  const decision = front.decisionOf(answer?.id ?? '') ?? front.sallyport.decide(asked)
  return { ...(answer as Answer), statuses, decision, curl: curlOf(host, visitor.paths, fieldsOf(first)) }
}

/** Fields of a request of a visitor, without its address: name, value, name, value … */
export function fieldsFor(
  { userAgent = 'curl/8.5.0', fields = ['Accept', '*/*'], sign }: ExampleVisitor,
  { host, target }: Pick<ExampleAim, 'host' | 'target'>,
): readonly string[] {
  return sign?.(aimAt(host, target)) ?? ['Host', host, 'User-Agent', userAgent, ...fields]
}

function aimAt(host: string, target: string): ExampleAim {
  return { host, method: 'GET', target, scheme: 'http' }
}

function answerOf(url: string, fields: readonly string[]): Promise<Answer> {
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
