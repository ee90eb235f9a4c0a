import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2'
import type { Test } from 'tap'
import type { ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate } from './certificate.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, OK } from './wire.ts'

export async function openHttp2(
  t: Test,
  answer: Answer | string = OK,
  {
    trust = ['loopback'],
    sallyport = fakeSallyport({ trust }),
    ...options
  }: ProxyOptions & {
    readonly trust?: readonly string[] | undefined
    readonly sallyport?: ReturnType<typeof fakeSallyport> | undefined
  } = {},
) {
  const refused: string[] = []
  const before = await proxyBefore(t, answer, {
    sallyport,
    tls: { certificates: [makeCertificate(certificateFolder(t), ['site.example'])] },
    onRefused: (cause) => refused.push(cause),
    ...options,
  })
  const session = connect(before.url, { rejectUnauthorized: false })
  session.on('error', () => {})
  t.teardown(() => session.destroy())
  await once(session, 'connect')
  return { ...before, session, refused, sallyport }
}

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  /** As the stream was reset with; 0: it was not. */
  readonly code: number
}

/** Asks, and resolves with the answer once its stream has ended. */
export function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}, body?: string): Promise<Answered> {
  return answered(begin(session, headers, body))
}

export function begin(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): ClientHttp2Stream {
  const all = { ':path': '/', ':authority': 'site.example', ...headers }
  const stream = session.request(all, { endStream: body === undefined })
  stream.on('error', () => {})
  if (body !== undefined) stream.end(body)
  return stream
}

export function answered(stream: ClientHttp2Stream): Promise<Answered> {
  return new Promise((resolve) => {
    let [status, text] = [0, '']
    let headers: Answered['headers'] = {}
    stream.on('response', (fields) => {
      status = Number(fields[':status'])
      headers = fields as Answered['headers']
    })
    stream.on('data', (bytes) => (text += bytes))
    stream.once('close', () => resolve({ status, headers, body: text, code: stream.rstCode }))
  })
}
