import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { ReferencePage } from '#api'

/** The build writes the page: Swagger UI in one file that loads nothing from outside. */
const FILE = new URL('../../reference.html.gz', import.meta.url)

const UNBUILT = '<!doctype html><title>Sallyport API</title><p>The reference was not built: npm run build.\n'

/** The page of the reference; read when it is asked for. */
export function referencePage(): ReferencePage {
  const zipped = existsSync(FILE) ? readFileSync(FILE) : gzipSync(UNBUILT)
  return { zipped, plain: () => gunzipSync(zipped).toString() }
}
