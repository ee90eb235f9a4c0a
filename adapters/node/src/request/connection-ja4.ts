import type { NodeHead } from './node-head.ts'
import type { RequestHost } from './request-host.ts'

/** On a connection: the JA4 of its client. Known to every copy of this package in a process. */
const JA4: unique symbol = Symbol.for('sallyport.ja4') as never

/** Notes the JA4 of a connection, for its requests. */
export function noteJa4(connection: object & { [JA4]?: string | undefined }, ja4: string): void {
  connection[JA4] = ja4
}

/** The JA4 of a client that connects directly: a trusted proxy's is not its client's. */
export function clientJa4(host: RequestHost, req: NodeHead): string | undefined {
  // HTTP/2 hides the socket of a stream that is already gone.
  const socket = req.socket as (NodeHead['socket'] & { readonly [JA4]?: string | undefined }) | undefined
  const ja4 = socket?.[JA4]
  return ja4 === undefined || host.isTrusted?.(socket?.remoteAddress ?? '') ? undefined : ja4
}
