import { type Decision, readMcpRequest } from '@sallyport/core'
import type { Sallyport } from '@sallyport/engine'
import { type Answer, sendRequest } from '../requests/send.ts'
import type { Aim } from '../requests/simulated-agents.ts'
import { toCurl } from './curl.ts'
import type { DemoVisitor } from './visitors.ts'

export interface DemoFront {
  readonly sallyport: Sallyport
  readonly url: string
  readonly consoleUrl?: string | undefined
  readonly visitors: readonly DemoVisitor[]
}

export interface Visit extends Answer {
  readonly statuses: readonly number[]
  readonly decision: Decision
  readonly curl: string
}

const LOOPBACK = '127.0.0.1'

/** Reports whether the demo can impersonate visitors: the proxy must trust the address that this site names. */
export function canVisit({ sallyport, url }: Pick<DemoFront, 'sallyport' | 'url'>): boolean {
  return sallyport.isTrusted(LOOPBACK) && url.startsWith('http://')
}

/** Sends a visitor through the gate to pages of this site. Rejects where the proxy does not answer. */
export async function visit(
  { sallyport, url }: DemoFront,
  visitor: DemoVisitor,
  decisions: ReadonlyMap<string, Decision>,
): Promise<Visit> {
  const { host } = new URL(url)
  // A signature works once, so each request, page and copied command is signed separately.
  const buildFields = (target: string) => [
    ...fieldsFor(visitor, { host, target }),
    sallyport.config.clientHeader,
    visitor.address,
  ]
  const statuses: number[] = []
  let answer: Answer | undefined
  for (const path of visitor.paths) {
    // The answer must not be compressed, so that the page can show it unchanged.
    const fields = buildFields(path).map((field, at, all) => (all[at - 1] === 'Accept-Encoding' ? 'identity' : field))
    const method = visitor.body === undefined ? 'GET' : 'POST'
    answer = await sendRequest(new URL(`http://${host}${path}`), method, fields, visitor.body)
    statuses.push(answer.status)
  }
  const [first, last = first] = [visitor.paths[0], visitor.paths.at(-1)]
  // Another worker may have taken the request.
  const decision =
    decisions.get(answer?.id ?? '') ?? decideVisit(sallyport, visitor, { host, target: last }, buildFields(last))
  return {
    ...(answer as Answer),
    statuses,
    decision,
    curl: toCurl(host, visitor.paths, buildFields(first), visitor.body),
  }
}

export function decideVisit(
  sallyport: Pick<Sallyport, 'decide' | 'namedJa4'>,
  { body }: DemoVisitor,
  { host, target }: Pick<Aim, 'host' | 'target'>,
  fields: readonly string[],
): Decision {
  const request = { ...aimAt(host, target), peer: LOOPBACK, httpVersion: '1.1', fields }
  const mcp = body === undefined ? undefined : readMcpRequest(fields, { bytes: Buffer.from(body) })
  const { ja4 } = sallyport.namedJa4(request) ?? {}
  return sallyport.decide({ ...request, ja4, ...(mcp && { method: 'POST', mcp }) })
}

/** Lists the fields of a visitor's request, without its address: name, value, name, value … */
export function fieldsFor(
  { userAgent = 'curl/8.5.0', fields = ['Accept', '*/*'], sign }: DemoVisitor,
  { host, target }: Pick<Aim, 'host' | 'target'>,
): readonly string[] {
  return sign?.(aimAt(host, target)) ?? ['Host', host, 'User-Agent', userAgent, ...fields]
}

function aimAt(host: string, target: string) {
  return { host, method: 'GET', target, scheme: 'http' } as const
}
