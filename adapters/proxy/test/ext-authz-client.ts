import { join } from 'node:path'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import type { Test } from 'tap'

/*
 * A caller as Envoy is, by the public definition of `envoy.service.auth.v3` with its packages and maps, which the server's own reading does
 * without.
 */
const FORMS = { keepCase: true, defaults: true, arrays: true, oneofs: true, longs: Number }
const FILE = join(import.meta.dirname, '../../test/ext-authz.proto')
const SERVICE = loadSync(FILE, FORMS)['envoy.service.auth.v3.Authorization'] as ServiceDefinition
const METHOD = SERVICE['Check'] as NonNullable<ServiceDefinition['']>

/** A field of a request or of an answer. */
export type Named = readonly [name: string, value: string]

/** A request of a client as Envoy describes it. */
export interface Described {
  readonly visitor?: string | undefined
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly host?: string | undefined
  readonly fields?: readonly Named[] | undefined
  /** With the fields in a map, one for each name, and not as they came. */
  readonly mapped?: boolean | undefined
}

/** The message by which Envoy asks about a request. */
export function described({
  visitor = '21.0.0.1',
  method = 'GET',
  target = '/',
  host = 'shop.example',
  fields = [],
  mapped = false,
}: Described): object {
  const all: readonly Named[] = [
    [':authority', host],
    [':path', target],
    [':method', method],
    [':scheme', 'https'],
    ['x-forwarded-proto', 'https'],
    ...fields,
  ]
  const headers = mapped
    ? { headers: Object.fromEntries(all) }
    : { header_map: { headers: all.map(([key, value]) => ({ key, raw_value: Buffer.from(value, 'latin1') })) } }
  const http = { id: '1', method, path: target, host, scheme: 'https', size: -1, protocol: 'HTTP/2', ...headers }
  const at = (address: string) => ({ address: { socket_address: { address, port_value: 40_000 } } })
  return {
    attributes: { source: at(visitor), destination: at('192.0.2.1'), request: { time: { seconds: 1 }, http } },
  }
}

/** A message as it is on the wire. */
export function encoded(message: object): Buffer {
  return METHOD.requestSerialize(message)
}

interface Option {
  readonly header: { readonly key: string; readonly value: string }
  readonly append: { readonly value: boolean } | null
}

interface Ok {
  readonly headers: readonly Option[]
  readonly headers_to_remove: readonly string[]
  readonly response_headers_to_add: readonly Option[]
}

interface Denied {
  readonly status: { readonly code: number }
  readonly headers: readonly Option[]
  readonly body: string
}

/** An answer as Envoy carries it out. */
export interface Carried {
  /** That of the page; absent where the request passes. */
  readonly status?: number | undefined
  readonly body?: string | undefined
  /** Those of the page, or those that overwrite the request's. */
  readonly headers: Readonly<Record<string, string>>
  /** Names that are taken out of the request. */
  readonly removed: readonly string[]
  /** Fields that are added to the answer of the site. */
  readonly added: readonly Named[]
}

interface Answer {
  readonly status: { readonly code: number }
  readonly ok_response?: Ok | null | undefined
  readonly denied_response?: Denied | null | undefined
}

function carried({ status, ok_response: ok, denied_response: denied }: Answer): Carried {
  const named = (options: readonly Option[], appended: boolean): readonly Named[] =>
    options.map(({ header, append }) => {
      if (append?.value !== appended) throw new Error(`${header.key} is not said to be ${appended ? 'added' : 'set'}`)
      return [header.key, header.value]
    })
  // Envoy decides by the code alone, whatever else is there.
  if (status.code === 0) {
    return {
      headers: Object.fromEntries(named(ok?.headers ?? [], false)),
      removed: ok?.headers_to_remove ?? [],
      added: named(ok?.response_headers_to_add ?? [], true),
    }
  }
  return {
    status: denied?.status.code ?? 403,
    body: denied?.body ?? '',
    headers: Object.fromEntries(named(denied?.headers ?? [], false)),
    removed: [],
    added: [],
  }
}

/** A connection as Envoy has one. */
export interface Caller {
  /** Asks with a message, or with bytes in its place; rejects with an error of gRPC, after `deadline` milliseconds too. */
  ask(message: object | Buffer, path?: string, deadline?: number): Promise<Carried>
  about(request: Described): Promise<Carried>
}

/** Calls `host:port` over a connection that is closed with the test. */
export function callerOf(t: Test, address: string): Caller {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.enable_http_proxy': 0,
    'grpc.max_send_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
  })
  t.teardown(() => client.close())
  const ask = (message: object | Buffer, path = METHOD.path, deadline = 60_000): Promise<Carried> =>
    new Promise((resolve, reject) => {
      const write = (sent: object | Buffer): Buffer => (Buffer.isBuffer(sent) ? sent : encoded(sent))
      client.makeUnaryRequest(
        path,
        write,
        (bytes: Buffer) => carried(METHOD.responseDeserialize(bytes) as Answer),
        message,
        { deadline: Date.now() + deadline },
        (error: ServiceError | null, answer?: Carried) => (answer === undefined ? reject(error) : resolve(answer)),
      )
    })
  return { ask, about: (request) => ask(described(request)) }
}
