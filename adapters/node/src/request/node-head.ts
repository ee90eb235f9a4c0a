import type { IncomingMessage } from 'node:http'
import type { InspectionRequest } from '@sallyport/core'

/** The head of a request that came to a server of Node: its own message, or what stands for one. */
export type NodeHead = Pick<
  IncomingMessage,
  'method' | 'url' | 'httpVersion' | 'httpVersionMajor' | 'rawHeaders' | 'headers' | 'socket'
>

/** A request that is inspected, with the id that its answer and its log line have. */
export type ReceivedHead = InspectionRequest & { readonly id: string }
