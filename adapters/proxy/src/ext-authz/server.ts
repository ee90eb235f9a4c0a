import type { Socket } from 'node:net'
import type { Server, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'
import type { ServiceDefinition } from '@grpc/proto-loader'
import { SallyportError } from '@sallyport/core'
import type { Asked } from '../exchange/exchange.ts'
import { CHECK_PATH } from '../gate/forward-auth.ts'
import { type Reading, readAsked } from './asked-request.ts'
import { type CheckAnswer, callAnswer } from './call-answer.ts'
import { CHECK_METHOD, type CheckRequest, DEFINITION } from './definition.ts'
import { createMessages, type Messages } from './messages.ts'

/** Bounds of what is read before it is known who asks. Envoy sends 60 KiB of fields where nothing else is configured. */
const OPTIONS = {
  'grpc.max_receive_message_length': 1 << 20,
  'grpc.max_concurrent_streams': 1_000,
  // MiB of one connection.
  'grpc-node.max_session_memory': 64,
}

/** Has a call answered as a request; the answer is that of `messages`. */
export type Ask = (messages: Messages, asked: Asked) => void

/** The service that Envoy calls, over connections that it is handed. */
export interface ExtAuthz {
  take(socket: Socket): void
  /** Ends each connection once its calls are answered. */
  end(): void
}

/** Rejects with `package_missing` where what speaks gRPC is not installed. */
export async function requireGrpc(): Promise<void> {
  await loadGrpc()
}

/** Loaded where it is configured: nobody else installs it. */
async function loadGrpc() {
  try {
    const [grpc, loader] = await Promise.all([import('@grpc/grpc-js'), import('@grpc/proto-loader')])
    return { grpc: grpc.default, loader: loader.default }
  } catch {
    const message =
      'calls of Envoy (extAuthz) need the package @grpc/grpc-js, which is not installed: npm install @grpc/grpc-js @grpc/proto-loader'
    throw new SallyportError('package_missing', message, { package: '@grpc/grpc-js' })
  }
}

type Answered = ReturnType<typeof callAnswer>

/** Serves `envoy.service.auth.v3.Authorization`; rejects with `package_missing`. */
export async function openExtAuthz(ask: Ask): Promise<ExtAuthz> {
  const { grpc, loader } = await loadGrpc()
  const { Check: method } = loader.fromJSON(DEFINITION as Parameters<typeof loader.fromJSON>[0])[
    'Authorization'
  ] as ServiceDefinition
  if (method === undefined) throw new Error('the definition has no method')
  const read = (bytes: Buffer): Reading => {
    try {
      return readAsked(method.requestDeserialize(bytes) as CheckRequest)
    } catch {
      return { fault: 'the call cannot be read' }
    }
  }
  const server: Server = new grpc.Server(OPTIONS)
  server.addService(
    {
      check: {
        path: CHECK_METHOD,
        requestStream: false,
        responseStream: false,
        requestDeserialize: read,
        requestSerialize: method.requestSerialize,
        responseSerialize: method.responseSerialize,
        responseDeserialize: method.responseDeserialize,
      },
    },
    {
      check(call: ServerUnaryCall<Reading, Answered>, done: sendUnaryData<Answered>): void {
        answerCall(call, ask, (answer) => {
          if (answer === undefined) done({ code: grpc.status.UNAVAILABLE, details: 'not answered' })
          else done(null, callAnswer(answer))
        })
      },
    },
  )
  const entrance = server.createConnectionInjector(grpc.ServerCredentials.createInsecure())
  return {
    take(socket) {
      // An end of the other side is the end of both.
      socket.allowHalfOpen = false
      entrance.injectConnection(socket)
    },
    end: () => server.tryShutdown(() => {}),
  }
}

/** `undefined`: it was cut, by us, or by Envoy whose time was over. */
function answerCall(
  call: ServerUnaryCall<Reading, Answered>,
  ask: Ask,
  done: (answer: CheckAnswer | undefined) => void,
): void {
  const { request: reading } = call
  const isRead = !('fault' in reading)
  const asked: Asked = isRead ? { visitor: reading.visitor, passes: false } : { fault: reading.fault, passes: false }
  const { method, target, fields } = isRead ? reading : { method: 'GET', target: '', fields: [] }
  const messages = createMessages({ method, target: `${CHECK_PATH}${target}`, fields }, peerOf(call.getPeer()))
  const { response } = messages
  let answer: CheckAnswer | undefined
  response.once('finish', () => {
    const { statusCode: status } = response
    // A verdict that could not be written is answered by another status.
    const passes = asked.passes && status === 200
    answer = { status, headers: response.getHeaders(), body: messages.body(), passes }
  })
  response.once('close', () => done(answer))
  call.once('cancelled', () => messages.cut())
  ask(messages, asked)
}

/** The address of `address:port`, which has no brackets. */
function peerOf(text: string): string {
  return text.slice(0, text.lastIndexOf(':'))
}
