import type { ApiResponse } from '@sallyport/engine'
import type { Exchange } from '../exchange/exchange.ts'

/** Matches gRPC over HTTP/2; `application/grpc-web` works over any version, and passes. */
const GRPC = /^application\/grpc(?:$|[+; ])/i

/** Reports whether a request is a gRPC call, which needs an origin that speaks HTTP/2. */
export function isGrpc({ httpVersionMajor, headers }: Exchange['request']): boolean {
  return httpVersionMajor === 2 && GRPC.test(headers['content-type'] ?? '')
}

/**
 * Refuses a gRPC call in a form that gRPC clients show: as an answer without messages, with a gRPC status. Clients read any other HTTP
 * status as UNKNOWN or UNAVAILABLE, and some retry.
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
