import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { ROUTES } from '../../src/api/index.ts'
import { createWire } from './wire.ts'
import { DOCUMENT as document, WRITTEN } from './written-document.ts'

/** The specification's endpoints: each row is [method, path, key, error statuses, response]. */
const SPECIFIED = [
  ['get', '/v1/demo/{ip}', false, [400, 429, 500], 'LookupResult'],
  ['get', '/v1/myip', false, [400, 429, 500], 'MyIPResponse'],
  ['post', '/v1/crawlers/verify', false, [400, 429, 500], 'CrawlerVerifyResponse'],
  ['get', '/v1/asn/directory', false, [429, 500], 'AsnDirectoryList'],
  ['get', '/v1/asn/directory/{asn}', false, [400, 404, 429, 500], 'AsnDirectoryEntry'],
  ['post', '/v1/ip/lookup', true, [400, 401, 429, 500], 'LookupResult'],
  ['get', '/v1/vpn/{ip}', true, [400, 401, 429, 500], 'VpnResponse'],
  ['get', '/v1/proxy/{ip}', true, [400, 401, 429, 500], 'ProxyResponse'],
  ['get', '/v1/geo/{ip}', true, [400, 401, 429, 500], 'GeolocationResponse'],
  ['get', '/v1/asn/{ip}', true, [400, 401, 429, 500], 'AsnResponse'],
  ['get', '/v1/whois/{domain}', true, [400, 401, 429, 500], 'WhoisResponse'],
  ['post', '/v1/agentscan/check', true, [400, 401, 429, 500], 'AgentscanCheckResponse'],
  ['post', '/v1/agentscan/verify', true, [400, 401, 429, 500], 'CrawlerVerifyResponse'],
  ['post', '/v1/provenance/check', true, [400, 401, 429, 500], 'ProvenanceCheckResponse'],
  ['get', '/v1/provenance/export', true, [400, 401, 404, 429, 500], 'Evidence'],
  ['get', '/v1/provenance/keys', false, [429, 500], 'LedgerKeys'],
  ['get', '/v1/user/limits', true, [401, 500], 'UserLimitsResponse'],
] as const

/** Media types of 200s that are not plain JSON. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '/v1/provenance/export': 'application/vnd.sallyport.evidence+json;version=1',
  '/v1/provenance/keys': 'application/jwk-set+json',
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

t.test('the document is OpenAPI 3.1, version 1.1.0', async (t) => {
  t.match(document.openapi, /^3\.1\./)
  t.equal(document.info.version, '1.1.0')
  t.match(document.info.description, /unknown path fails with 404 `not_found`.*method.*405 `method_not_allowed`/)
  const result = await new Validator().validate(structuredClone(document))
  t.same([result.valid, result.errors ?? []], [true, []])
})

t.test('the file in the repository is the document; run `npm run openapi` when it is not', async (t) => {
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

t.test('the document has the routes that are built, and no other', async (t) => {
  const paths = SPECIFIED.map(([, path]) => path)
  t.same(Object.keys(document.paths), [...paths, '/v1', '/v1/docs', '/v1/openapi.json'])
  t.same(document.security, [{ bearerAuth: [] }], 'a key is the default')
  t.same(document.components.securitySchemes.bearerAuth, { type: 'http', scheme: 'bearer' })
})

for (const [method, path, keyed, errors, schema] of SPECIFIED) {
  t.test(`${method} ${path} is as specified`, async (t) => {
    t.same(Object.keys(document.paths[path]), [method])
    const operation = document.paths[path][method]
    t.same(operation.security, keyed ? undefined : [], keyed ? 'needs a key' : 'needs no key')
    const ours = [405, 503, ...(method === 'post' ? [413] : []), ...(keyed ? [429] : [])]
    const statuses = [...new Set([200, ...errors, ...ours])].sort((x, y) => x - y)
    t.same(Object.keys(operation.responses), statuses.map(String))
    t.match(operation.responses['405'].headers.Allow, { $ref: '#/components/headers/Allow' })
    for (const status of statuses) {
      const name = status === 200 ? schema : status === 429 ? 'RateLimitResponse' : 'ErrorResponse'
      const type = (status === 200 && MEDIA_TYPES[path]) || 'application/json'
      t.same(operation.responses[status].content[type].schema, ref(name), String(status))
    }
    for (const status of [200, 429].filter((wanted) => wanted in operation.responses)) {
      const names = Object.keys(operation.responses[status].headers)
      for (const header of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']) {
        t.ok(names.includes(header), `${status} ${header}`)
        t.equal(document.components.headers[header].schema.type, 'integer')
      }
    }
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const parameters = (operation.parameters ?? []).filter((parameter: { in: string }) => parameter.in === 'path')
    t.match(
      parameters,
      names.map((name) => ({ name, required: true, schema: { type: 'string' } })),
    )
    t.equal(parameters.length, names.length)
  })
}

t.test('the document keeps the rules of Spectral: contact, tags, descriptions, used components', async (t) => {
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
})

t.test('parameters and bodies show the example of their row', async (t) => {
  t.equal(document.paths['/v1/vpn/{ip}'].get.parameters[0].example, '185.220.101.10')
  const { requestBody } = document.paths['/v1/ip/lookup'].post
  t.equal(requestBody.required, true)
  t.match(requestBody.content['application/json'], { schema: ref('LookupRequest'), example: { target: '5.9.10.0/24' } })
  t.same(document.components.schemas.LookupRequest.required, ['target'])
})

t.test('the query of the directory has the defaults and bounds of the specification', async (t) => {
  const clamped = /out of range is replaced by the nearest bound.*neither fails with 400/
  const { parameters } = document.paths['/v1/asn/directory'].get
  t.match(parameters, [
    { name: 'top', schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 } },
    { name: 'by', schema: { type: 'string', enum: ['addresses', 'prefixes'], default: 'addresses' } },
    { name: 'q', schema: { type: 'string' }, example: 'hetzner' },
    { name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, example: 5 },
  ])
  for (const at of [0, 3]) t.match(parameters[at].description ?? parameters[at].schema.description, clamped)
  t.equal(parameters.length, 4)
  t.notOk(parameters.some(({ required }: { readonly required?: boolean }) => required))
})

t.test('answers may grow, and integers have no made-up bounds', async (t) => {
  const text = JSON.stringify(document)
  t.notMatch(text, /"additionalProperties":false/)
  t.notMatch(text, /"(minimum|maximum)":-?9007199254740991/)
  t.equal(document.components.schemas.AsnDirectorySummary.properties.addresses.format, 'int64')
  t.equal(document.components.schemas.Target.properties.addresses.format, 'int64')
  t.same(document.components.schemas.LookupResult.properties.whois, ref('WhoisResponse'))
})
