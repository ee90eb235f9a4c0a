import { writeFileSync } from 'node:fs'
import { openApiDocument, UNSHOWN } from '../../build/openapi.ts'
import { ROUTES } from '../../src/api/routes/index.ts'
import { exampleAnswers } from './example-answers.ts'

// Run by `npm run openapi`: writes the document with answers to the examples; tests hold it against the rows.
const examples = Object.fromEntries(
  [...(await exampleAnswers())]
    .filter(([operationId]) => !UNSHOWN.includes(operationId))
    .map(([operationId, { text }]) => [operationId, JSON.parse(text)]),
)
const file = new URL('../../../openapi.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(openApiDocument(ROUTES, examples), null, 2)}\n`)
