import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { createMetrics } from '@sallyport/engine/metrics'
import t, { type Test } from 'tap'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { MARK, ODD_ANSWERS, type OddAnswer } from './odd-answers.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, exchange, get, readStatus } from './wire.ts'

/* Whatever an origin answers, each client gets it or our own whole answer, and the process goes on. */

const skip = NO_OPENSSL

/** The answer that a client gets; names of fields in lower case, with the values of each. */
interface Got {
  readonly status: number
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly body: string
}

async function open(t: Test) {
  const meter = createMetrics()
  const observed: number[] = []
  const faults: unknown[] = []
  const sallyport = {
    ...fakeSallyport(),
    meter,
    observe: ({ status }: { readonly status: number }) => void observed.push(status),
  }
  // The number of an answer is the path of its request.
  const answer: Answer = (socket, head) => {
    const one = ODD_ANSWERS[Number(/^\w+ \/(\d+)/.exec(head)?.[1])]
    if (one !== undefined) socket.end(one.head + (head.startsWith('HEAD') ? '' : one.body), 'latin1')
  }
  const options = { sallyport, forwardAuth: 'nginx', onFault: (error: unknown) => faults.push(error) } as const
  const tls = { certificates: [makeCertificate(certificateFolder(t), ['site.example'])] }
  const before = await proxyBefore(t, answer, { ...options, tls, http: '127.0.0.1:0' })
  const session = connect(before.url, { rejectUnauthorized: false, maxHeaderListPairs: 1_000 })
  t.teardown(() => session.destroy())
  await once(session, 'connect')
  const scrape = async (): Promise<string> => (await fetch(`${before.proxy.adminUrl}/metrics`)).text()
  return { session, url: String(before.proxy.httpUrl), faults, scrape }
}

function gathered(pairs: Iterable<readonly [string, string]>): Got['fields'] {
  const fields = new Map<string, string[]>()
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    fields.set(key, [...(fields.get(key) ?? []), value])
  }
  return fields
}

async function overHttp1(url: string, method: string, path: string, ...more: readonly string[]): Promise<Got> {
  const all = await exchange(url, get(path, ...more).replace('GET', method))
  const text = all.replace(/^HTTP\/1\.1 103 [\s\S]*?\r\n\r\n/, '')
  const end = text.indexOf('\r\n\r\n')
  const lines = text.slice(0, end).split('\r\n').slice(1)
  const pairs = lines.map((line) => {
    const at = line.indexOf(':')
    return [line.slice(0, at), line.slice(at + 1).trim()] as const
  })
  const body = text.slice(end + 4)
  const fields = gathered(pairs)
  return { status: readStatus(text), fields, body: fields.has('transfer-encoding') ? unchunked(body) : body }
}

/** Decodes a body in chunks of fewer than 16 bytes, or in ours. */
function unchunked(body: string): string {
  const size = Number.parseInt(body, 16)
  const from = body.indexOf('\r\n') + 2
  return size > 0 ? body.slice(from, from + size) + unchunked(body.slice(from + size + 2)) : ''
}

async function overHttp2(session: ClientHttp2Session, method: string, path: string, more = {}): Promise<Got> {
  const stream = session.request({ ':method': method, ':path': path, ':authority': 'site.example', ...more })
  let body = ''
  let got: Pick<Got, 'status' | 'fields'> = { status: 0, fields: new Map() }
  stream.on('error', () => {})
  stream.on('response', (...heard: readonly unknown[]) => {
    const raw = heard[2] as readonly string[]
    const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] as string] as const] : []))
    got = { status: Number(raw[1]), fields: gathered(pairs.filter(([name]) => name !== ':status')) }
  })
  stream.on('data', (bytes: Buffer) => (body += bytes.toString('latin1')))
  await new Promise((resolve) => stream.once('close', resolve))
  return { ...got, body: stream.rstCode === 0 ? body : `${body} (reset with ${stream.rstCode})` }
}

/** Returns the faults of an answer that a client got, in a line for each. */
function listFaults({ status, fields, body }: OddAnswer, { status: got, ...answer }: Got, method: string): string[] {
  const faults: string[] = []
  if (got !== status) faults.push(`status ${got} for ${status}`)
  if (!answer.fields.has('x-request-id')) faults.push('no id')
  const single = [...answer.fields].filter(([name, { length }]) => length > 1 && name !== 'set-cookie')
  for (const [name] of single) faults.push(`${name} twice`)
  if (got === 502) {
    if (answer.fields.has(MARK)) faults.push('our answer holds a field of the origin')
    if (method === 'GET' && JSON.parse(answer.body).error !== 'bad_gateway') faults.push('not our answer')
    return faults
  }
  for (const [name, value] of Object.entries(fields)) {
    const values = answer.fields.get(name)
    if (values?.[0] !== value) faults.push(`${name}: ${values?.join()} for ${value}`)
  }
  const whole = method === 'HEAD' || [204, 205, 304].includes(status) ? '' : 'ok'
  if (answer.body !== whole) faults.push(`body ${JSON.stringify(answer.body)} of ${JSON.stringify(body)}`)
  return faults
}

t.test('each odd answer, to clients of both protocols: the same, or a 502 of ours', { skip }, async (t) => {
  const { session, url, faults } = await open(t)
  const wrong: string[] = []
  for (const [at, answer] of ODD_ANSWERS.entries()) {
    for (const method of ['GET', 'HEAD']) {
      // A number that is no framing of HEAD is one of another answer.
      const one = await overHttp1(url, method, `/${at}`)
      const two = await overHttp2(session, method, `/${at}`)
      for (const [protocol, got] of [
        ['HTTP/1.1', one],
        ['HTTP/2', two],
      ] as const) {
        for (const fault of listFaults(answer, got, method))
          wrong.push(`${answer.name}, ${method} over ${protocol}: ${fault}`)
      }
    }
  }
  t.same(wrong, [])
  t.ok(ODD_ANSWERS.length >= 60)
  t.same(faults, [], 'and nothing of ours threw')
})

t.test('differences are counted by name', { skip }, async (t) => {
  const { session, url, scrape } = await open(t)
  for (const name of [
    'ETag twice, equal',
    'ETag twice, different',
    'Location twice, different',
    'Content-Language twice',
  ]) {
    const at = ODD_ANSWERS.findIndex((answer) => answer.name === name)
    await overHttp1(url, 'GET', `/${at}`)
    await overHttp2(session, 'GET', `/${at}`)
  }
  const lines = (await scrape()).match(/^sallyport_field_conflicts_total.*$/gm)
  t.same(lines?.sort(), [
    'sallyport_field_conflicts_total{field="etag"} 2',
    'sallyport_field_conflicts_total{field="location"} 2',
  ])
})
