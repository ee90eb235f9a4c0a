import type { IncomingMessage } from 'node:http'
import type { InspectionRequest } from '@sallyport/core'

/** The head of a request that came to a server of Node: Node's own message, or a substitute. */
export type NodeHead = Pick<
  IncomingMessage,
  'method' | 'url' | 'httpVersion' | 'httpVersionMajor' | 'rawHeaders' | 'headers' | 'socket'
>

/** A request to inspect, with the id that its answer and its log line carry. */
export type ReceivedHead = InspectionRequest & { readonly id: string }
