import type { InspectionRequest } from '@sallyport/core'

/** A request to the API, as an adapter passes it on. */
export interface ApiRequest extends InspectionRequest {
  /** Path below the mount, percent-encoded as received, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /**
   * The body as JSON. Read only after admission, so that a refused request costs no reading; a host that has parsed
   * the body already hands over what it has. Rejects with SyntaxError for what is not JSON, and with
   * SallyportError `payload_too_large` above 64 KiB.
   */
  json(): Promise<unknown>
}

/** A response of the API. A HEAD request receives the body of GET, which its host must not send. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | AsyncIterable<string>
}

/** Answers all of `/v1`. Never rejects; `undefined` means that the path is not under `/v1`, so the host answers it. */
export type Api = (request: ApiRequest) => Promise<ApiResponse | undefined>
