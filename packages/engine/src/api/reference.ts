import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { ApiRequest, ApiResponse } from './request.ts'

/** The build writes it: Swagger UI as one page that needs nothing from outside (D539). */
const FILE = new URL('../../reference.html.gz', import.meta.url)

const UNBUILT = '<!doctype html><title>Sallyport API</title><p>The reference was not built: npm run build.\n'

/** The page of the reference, compressed; read when it is asked for. */
export function referencePage(): Uint8Array {
  return existsSync(FILE) ? readFileSync(FILE) : gzipSync(UNBUILT)
}

/** A 200 of a compressed body, in the coding that the caller takes. */
export function zippedAnswer(zipped: Uint8Array, headers: ApiResponse['headers'], { fields }: ApiRequest): ApiResponse {
  const isTaken = fields.some(
    (name, at) => at % 2 === 0 && /^accept-encoding$/i.test(name) && takesGzip(fields[at + 1] ?? ''),
  )
  const varied = { ...headers, Vary: 'Accept-Encoding' }
  if (!isTaken) return { status: 200, headers: varied, body: gunzipSync(zipped).toString() }
  return { status: 200, headers: { ...varied, 'Content-Encoding': 'gzip' }, body: zipped }
}

/** Reads the weight too: `gzip;q=0` refuses it (RFC 9110 12.5.3). */
function takesGzip(field: string): boolean {
  return field.split(',').some((coding) => /^\s*gzip\s*(?:;\s*q=(?:1|0?\.\d*[1-9]).*)?$/i.test(coding))
}
