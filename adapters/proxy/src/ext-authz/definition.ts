/**
 * The messages of Envoy's external authorization (`envoy.service.auth.v3`), as far as they are read and written here. On the wire are
 * numbers and types alone: packages and nesting are left out, a map is a list of its entries, and texts that a client wrote are bytes, as
 * Node has them in Latin-1.
 */
export const DEFINITION = {
  nested: {
    Authorization: { methods: { Check: { requestType: 'CheckRequest', responseType: 'CheckResponse' } } },
    CheckRequest: { fields: { attributes: { id: 1, type: 'Attributes' } } },
    Attributes: { fields: { source: { id: 1, type: 'Peer' }, request: { id: 4, type: 'Request' } } },
    Peer: { fields: { address: { id: 1, type: 'Address' } } },
    Address: { fields: { socketAddress: { id: 1, type: 'SocketAddress' } } },
    SocketAddress: { fields: { address: { id: 2, type: 'string' } } },
    Request: { fields: { http: { id: 2, type: 'HttpRequest' } } },
    HttpRequest: {
      fields: {
        method: { id: 2, type: 'bytes' },
        headers: { id: 3, rule: 'repeated', type: 'Header' },
        path: { id: 4, type: 'bytes' },
        host: { id: 5, type: 'bytes' },
        scheme: { id: 6, type: 'bytes' },
        headerMap: { id: 13, type: 'HeaderMap' },
      },
    },
    HeaderMap: { fields: { headers: { id: 1, rule: 'repeated', type: 'Header' } } },
    Header: {
      fields: { key: { id: 1, type: 'bytes' }, value: { id: 2, type: 'bytes' }, rawValue: { id: 3, type: 'bytes' } },
    },
    CheckResponse: {
      fields: {
        status: { id: 1, type: 'Status' },
        denied: { id: 2, type: 'Denied' },
        ok: { id: 3, type: 'Ok' },
      },
    },
    Status: { fields: { code: { id: 1, type: 'int32' } } },
    Denied: {
      fields: {
        status: { id: 1, type: 'HttpStatus' },
        headers: { id: 2, rule: 'repeated', type: 'HeaderOption' },
        body: { id: 3, type: 'string' },
      },
    },
    HttpStatus: { fields: { code: { id: 1, type: 'int32' } } },
    Ok: {
      fields: {
        headers: { id: 2, rule: 'repeated', type: 'HeaderOption' },
        headersToRemove: { id: 5, rule: 'repeated', type: 'string' },
        responseHeadersToAdd: { id: 6, rule: 'repeated', type: 'HeaderOption' },
      },
    },
    HeaderOption: { fields: { header: { id: 1, type: 'Header' }, append: { id: 2, type: 'Wrapped' } } },
    Wrapped: { fields: { value: { id: 1, type: 'bool' } } },
  },
}

/** Method that Envoy calls. */
export const CHECK_METHOD = '/envoy.service.auth.v3.Authorization/Check'

/** The parts of a `CheckRequest` that are read; each may be missing. */
export interface CheckRequest {
  readonly attributes?: Attributes | null | undefined
}

interface Attributes {
  readonly source?: { readonly address?: Address | null | undefined } | null | undefined
  readonly request?: { readonly http?: HttpRequest | null | undefined } | null | undefined
}

interface Address {
  /** Absent for one of another kind, as a Unix socket's. */
  readonly socketAddress?: { readonly address?: string | undefined } | null | undefined
}

/** The attributes of the request that is asked about. */
export interface HttpRequest {
  readonly method?: Uint8Array | undefined
  readonly path?: Uint8Array | undefined
  readonly host?: Uint8Array | undefined
  readonly scheme?: Uint8Array | undefined
  /** One of each name, whose values Envoy has joined. */
  readonly headers?: readonly Header[] | undefined
  /** As they came (`encode_raw_headers`), in place of the others. */
  readonly headerMap?: { readonly headers?: readonly Header[] | undefined } | null | undefined
}

export interface Header {
  readonly key?: Uint8Array | undefined
  readonly value?: Uint8Array | undefined
  readonly rawValue?: Uint8Array | undefined
}
