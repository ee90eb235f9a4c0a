import type { ApiResponse } from '@sallyport/engine'
import type { Exchange } from '../exchange/exchange.ts'

/** gRPC as it is spoken over HTTP/2; `application/grpc-web` is spoken over any version, and passes. */
const GRPC = /^application\/grpc(?:$|[+; ])/i

/** Whether a request is one of gRPC, which needs an origin that is spoken to in HTTP/2. */
export function isGrpc({ httpVersionMajor, headers }: Exchange['request']): boolean {
  return httpVersionMajor === 2 && GRPC.test(headers['content-type'] ?? '')
}

/**
 * The refusal of a call of gRPC in the way that its clients show: as an answer without messages, with a status of theirs. Another status of
 * HTTP is UNKNOWN or UNAVAILABLE to them, and some ask again.
 */
export const UNIMPLEMENTED: ApiResponse = {
  status: 200,
  headers: {
    'content-type': 'application/grpc',
    'grpc-status': '12',
    'grpc-message': 'gRPC is not supported: the origin is reached over HTTP/1.1.',
  },
  body: '',
}
