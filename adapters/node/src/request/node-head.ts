import type { IncomingMessage } from 'node:http'

/** The head of a request that came to a server of Node: its own message, or what stands for one. */
export type NodeHead = Pick<
  IncomingMessage,
  'method' | 'url' | 'httpVersion' | 'httpVersionMajor' | 'rawHeaders' | 'headers' | 'socket'
>
