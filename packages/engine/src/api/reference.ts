import type { ApiRequest, ApiResponse } from './request.ts'

/** Holds the reference page in HTML, compressed with gzip and plain. */
export interface ReferencePage {
  readonly zipped: Uint8Array
  plain(): string
}

export function isReferencePage(answered: unknown): answered is ReferencePage {
  return typeof answered === 'object' && answered !== null && 'zipped' in answered
}

/** Returns the page with status 200, in a coding that the caller accepts. */
export function pageAnswer(page: ReferencePage, headers: ApiResponse['headers'], { fields }: ApiRequest): ApiResponse {
  const isTaken = fields.some(
    (name, at) => at % 2 === 0 && /^accept-encoding$/i.test(name) && takesGzip(fields[at + 1] ?? ''),
  )
  const varied = { ...headers, Vary: 'Accept-Encoding' }
  if (!isTaken) return { status: 200, headers: varied, body: page.plain() }
  return { status: 200, headers: { ...varied, 'Content-Encoding': 'gzip' }, body: page.zipped }
}

/** Reports whether a field accepts gzip. Reads the weight too: `gzip;q=0` refuses it (RFC 9110 12.5.3). */
function takesGzip(field: string): boolean {
  return field.split(',').some((element) => {
    const [coding, ...parameters] = element.split(';').map((part) => part.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
