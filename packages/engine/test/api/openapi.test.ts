import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { ROUTES } from '../../src/api/index.ts'
import { createWire } from './wire.ts'
import { DOCUMENT as document, WRITTEN } from './written-document.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

t.test('the document is OpenAPI 3.1 and openapi.json; run `npm run openapi` when the file differs', async (t) => {
  t.match(document.openapi, /^3\.1\./)
  t.equal(document.info.version, '1.1.0')
  t.match(document.info.description, /unknown path fails with 404 `not_found`.*method.*405 `method_not_allowed`/)
  const result = await new Validator().validate(structuredClone(document))
  t.same([result.valid, result.errors ?? []], [true, []])
  t.equal(JSON.stringify(JSON.parse(WRITTEN)), JSON.stringify(document))
})

t.test('GET /v1/openapi.json serves it, and it describes itself', async (t) => {
  const { status, text, headers } = await createWire().call('GET', '/v1/openapi.json')
  t.equal(status, 200)
  t.equal(text, JSON.stringify(document))
  t.equal(headers['Cache-Control'], 'no-store')
  t.same(
    document.paths['/v1/openapi.json'].get.responses['200'].content['application/json'].schema,
    ref('OpenApiDocument'),
  )
})

t.test('the document has the routes that are built, each with its key, its limit and our errors', async (t) => {
  t.same(new Set(Object.keys(document.paths)), new Set(ROUTES.map(({ path }) => path)))
  t.same(document.security, [{ bearerAuth: [] }], 'a key is the default')
  for (const { method, path, access } of ROUTES.filter(({ access }) => access.kind !== 'open')) {
    const { responses, security } = document.paths[path][method.toLowerCase()]
    const isKeyed = access.kind === 'key'
    t.same(security, isKeyed ? undefined : [], path)
    const own = [405, 429, 500, 503, ...(method === 'POST' ? [413] : []), ...(isKeyed ? [401] : [])]
    for (const status of own) t.ok(status in responses, `${path} ${status}`)
    t.same(responses['405'].headers.Allow, { $ref: '#/components/headers/Allow' }, path)
    for (const status of [200, 429]) {
      const names = Object.keys(responses[status].headers)
      for (const name of ['Limit', 'Remaining', 'Reset'])
        t.ok(names.includes(`X-RateLimit-${name}`), `${path} ${status}`)
    }
  }
})

t.test('the document keeps the rules of Spectral, answers may grow, and no integer has made-up bounds', async (t) => {
  t.match(document.info.contact, { name: String, url: /^https:/ })
  const tags = document.tags.map(({ name }: { name: string }) => name)
  for (const { name, description } of document.tags) t.match(description, /\.$/, name)
  for (const { method, path, tag, operationId } of ROUTES) {
    t.ok(tags.includes(tag), `${operationId}: ${tag}`)
    t.match(document.paths[path][method.toLowerCase()].description, /\.$/, operationId)
  }
  const text = JSON.stringify(document)
  for (const [kind, members] of Object.entries<object>(document.components)) {
    if (kind === 'securitySchemes') continue
    for (const name of Object.keys(members)) t.ok(text.includes(`"#/components/${kind}/${name}"`), name)
  }
  t.notMatch(text, /"additionalProperties":false/)
  t.notMatch(text, /"(minimum|maximum)":-?9007199254740991/)
})
