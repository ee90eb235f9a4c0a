import { writeFileSync } from 'node:fs'
import { openApiDocument } from '../../src/api/openapi.ts'
import { ROUTES } from '../../src/api/routes/index.ts'

// Run by `npm run openapi`: writes the document beside package.json, where a test holds it against the rows.
const file = new URL('../../../openapi.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(openApiDocument(ROUTES), null, 2)}\n`)
