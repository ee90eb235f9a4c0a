import type { RequestOrigin } from './web-request.ts'

/** On an event that is handed on: the request that was made of it, so that it is one request to the end. */
export const REQUEST: unique symbol = Symbol('sallyport.lambda-request')

/** The used part of an event of payload format 2.0. */
export interface LambdaEvent {
  readonly rawPath: string
  readonly rawQueryString: string
  /** Names in lower case; the fields of one name are one. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly cookies?: readonly string[] | undefined
  readonly body?: string | undefined
  readonly isBase64Encoded: boolean
  readonly requestContext: {
    readonly domainName: string
    readonly http: { readonly method: string; readonly sourceIp: string }
  }
}

/** A result of payload format 2.0. */
export interface LambdaResult {
  /** The HTTP status. */
  readonly statusCode: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** One `Set-Cookie` each. */
  readonly cookies?: readonly string[] | undefined
  readonly body?: string | undefined
  readonly isBase64Encoded?: boolean | undefined
}

type Held = LambdaEvent & { readonly [REQUEST]?: Request | undefined }

/** The request of an event, at every call the same where it is handed on. */
export function requestOf(event: Held): Request {
  const { rawPath, rawQueryString, requestContext, body } = event
  const { domainName, http } = requestContext
  const held = event[REQUEST]
  if (held !== undefined) return held
  const headers = new Headers()
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined) headers.set(name, inBytes(value))
  if (event.cookies !== undefined && event.cookies.length > 0) headers.set('cookie', inBytes(event.cookies.join('; ')))
  const url = `https://${domainName}${rawPath}${rawQueryString === '' ? '' : `?${rawQueryString}`}`
  const sends = body !== undefined && !['GET', 'HEAD'].includes(http.method)
  const bytes = sends ? Buffer.from(body, event.isBase64Encoded ? 'base64' : 'utf8') : null
  return new Request(url, { method: http.method, headers, body: bytes })
}

/** A text of JSON as the bytes of its UTF-8, which alone a header of the web may hold. */
function inBytes(text: string): string {
  return /[^\0-\xff]/.test(text) ? Buffer.from(text).toString('latin1') : text
}

/** The visitor, as API Gateway saw the socket. */
export function originOf({ requestContext }: LambdaEvent): RequestOrigin {
  return { address: requestContext.http.sourceIp }
}

/** A response of ours as a result. */
export async function resultOf(response: Response): Promise<LambdaResult> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = bytes.toString('utf8')
  const isText = Buffer.from(text).equals(bytes)
  const { 'set-cookie': _, ...headers } = Object.fromEntries(response.headers)
  return {
    statusCode: response.status,
    headers,
    cookies: response.headers.getSetCookie(),
    body: isText ? text : bytes.toString('base64'),
    isBase64Encoded: !isText,
  }
}

/** The result that API Gateway makes of what a handler resolved to. */
export function structured(given: unknown): LambdaResult {
  if (typeof given === 'object' && given !== null && 'statusCode' in given) return given as LambdaResult
  const body = typeof given === 'string' ? given : JSON.stringify(given)
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body }
}
