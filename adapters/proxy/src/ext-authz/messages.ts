import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setPeer } from '../edge/peer.ts'
import { grouped } from '../edge/stream-response.ts'

/** The connection of messages that came by another one: it keeps what is written, and nothing comes of it. */
class Kept extends Duplex {
  readonly #sent: Buffer[] = []
  readonly bytesRead = 0
  bytesWritten = 0

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#sent.push(chunk)
    this.bytesWritten += chunk.length
    done()
  }

  get sent(): Buffer {
    return Buffer.concat(this.#sent)
  }
}

/** A request without a body that was not sent as one, and its answer. */
export interface Messages {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Ends both, where nobody waits for the answer. */
  cut(): void
  /** The body of an answer that has been written, and has a length. */
  body(): string
}

export interface RequestLine {
  readonly method: string
  readonly target: string
  /** Name, value, name, value …; they are checked. */
  readonly fields: readonly string[]
}

/** Messages of Node's own, so that all that answers a request answers this one; `peer` is the address of who asks. */
export function createMessages({ method, target, fields }: RequestLine, peer: string): Messages {
  const kept = new Kept()
  const socket = kept as Duplex as Socket
  setPeer(socket, { address: peer, port: 0 })
  const request = new IncomingMessage(socket)
  request.httpVersion = '1.1'
  request.httpVersionMajor = 1
  request.httpVersionMinor = 1
  request.method = method
  request.url = target
  request.rawHeaders = [...fields]
  // A name that comes twice has a list of values, which no reader of these takes for one.
  request.headers = grouped(fields) as IncomingMessage['headers']
  request.complete = true
  request.push(null)
  const response = new ServerResponse(request)
  response.sendDate = false
  response.assignSocket(socket)
  // Node's server does so; its answers end by the `close` that comes of it.
  response.once('finish', () => kept.destroy())
  return {
    request,
    response,
    cut: () => void kept.destroy(),
    body() {
      const { sent } = kept
      return sent.subarray(sent.indexOf('\r\n\r\n') + 4).toString()
    },
  }
}
