import { readFileSync } from 'node:fs'
import { openApiDocument } from '../../build/openapi.ts'
import { ROUTES } from '../../src/api/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked by name here.
type Document = any

/** The text of the document that `npm run openapi` wrote. */
export const WRITTEN = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')

/** The 200s that this text shows, by operation; a test holds them against what the rows answer. */
export const SHOWN: Readonly<Record<string, unknown>> = shownIn(JSON.parse(WRITTEN))

/** The document that is built of the rows and those 200s. */
export const DOCUMENT: Document = JSON.parse(JSON.stringify(openApiDocument(ROUTES, SHOWN)))

function shownIn({ paths }: Document): Readonly<Record<string, unknown>> {
  const shown = ROUTES.map(({ path, method, mediaType = 'application/json', operationId }) => {
    const { content } = paths[path][method.toLowerCase()].responses['200']
    return [operationId, content[mediaType]] as const
  })
  return Object.fromEntries(shown.filter(([, of]) => 'example' in of).map(([id, { example }]) => [id, example]))
}
