import { request } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { Sallyport } from '@sallyport/engine'
import { curlOf } from './curl.ts'
import type { DemoAim, DemoVisitor } from './visitors.ts'

/** The proxy in front, as far as the site needs it. */
export interface DemoFront {
  readonly sallyport: Sallyport
  /** `http://host:port` of the proxy. */
  readonly url: string
  /** URL of the page that explains requests; absent where there is none. */
  readonly consoleUrl?: string | undefined
  readonly visitors: readonly DemoVisitor[]
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
export function canVisit({ sallyport, url }: DemoFront): boolean {
  return sallyport.isTrusted(LOOPBACK) && url.startsWith('http://')
}

/** Sends a visitor through the gate to pages of this site. Rejects where the proxy does not answer. */
export async function visit(
  { sallyport, url }: DemoFront,
  visitor: DemoVisitor,
  decisions: ReadonlyMap<string, Decision>,
): Promise<Visit> {
  const { host } = new URL(url)
  // A signature is good once, so what is sent, what is shown and what is copied are each signed.
  const fieldsOf = (target: string) => [
    ...fieldsFor(visitor, { host, target }),
    sallyport.config.clientHeader,
    visitor.address,
  ]
  const statuses: number[] = []
  let answer: Answer | undefined
  for (const path of visitor.paths) {
    answer = await answerOf(`http://${host}${path}`, fieldsOf(path))
    statuses.push(answer.status)
  }
  const [first, last = first] = [visitor.paths[0], visitor.paths.at(-1)]
  const asked = { ...aimAt(host, last), peer: LOOPBACK, httpVersion: '1.1', fields: fieldsOf(last) }
  // Another worker may have taken the request.
  const decision = decisions.get(answer?.id ?? '') ?? sallyport.decide(asked)
  return { ...(answer as Answer), statuses, decision, curl: curlOf(host, visitor.paths, fieldsOf(first)) }
}

/** Fields of a request of a visitor, without its address: name, value, name, value … */
export function fieldsFor(
  { userAgent = 'curl/8.5.0', fields = ['Accept', '*/*'], sign }: DemoVisitor,
  { host, target }: Pick<DemoAim, 'host' | 'target'>,
): readonly string[] {
  return sign?.(aimAt(host, target)) ?? ['Host', host, 'User-Agent', userAgent, ...fields]
}

function aimAt(host: string, target: string): DemoAim {
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
