import { writeFileSync } from 'node:fs'
import { openApiDocument, UNSHOWN } from '../../src/api/openapi.ts'
import { ROUTES } from '../../src/api/routes/index.ts'
import { exampleAnswers } from './example-answers.ts'

// Run by `npm run openapi`: writes the examples beside the rows, and the document with them beside package.json; tests
// hold both against the rows.
const examples = Object.fromEntries(
  [...(await exampleAnswers())]
    .filter(([operationId]) => !UNSHOWN.includes(operationId))
    .map(([operationId, { text }]) => [operationId, JSON.parse(text)]),
)
write('../../../src/api/examples.json', examples)
write('../../../openapi.json', openApiDocument(ROUTES, examples))

function write(path: string, value: unknown): void {
  writeFileSync(new URL(path, import.meta.url), `${JSON.stringify(value, null, 2)}\n`)
}
