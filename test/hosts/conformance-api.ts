import { METHODS } from 'node:http'
import { from, JSON_TYPE, type Row } from './conformance-row.ts'
import type { Scene } from './scene.ts'

/** Every method that Node parses and hands on as a request, but `some`. */
function otherMethods(...some: readonly string[]): readonly string[] {
  return METHODS.filter((method) => ![...some, 'CONNECT'].includes(method))
}

/** Requests for the API, under its mount. */
export function apiRows({ allowed, blocked, key }: Scene): readonly Row[] {
  const bearer = ['Authorization', `Bearer ${key}`]
  const row = (name: string, method: string, path: string, status: number, more: Partial<Row> = {}): Row => ({
    name: `API: ${name}`,
    method,
    path,
    api: true,
    fields: from(allowed),
    status,
    ...more,
  })
  const lookup = (name: string, status: number, body: string | undefined, more: Partial<Row> = {}): Row =>
    row(name, 'POST', '/v1/ip/lookup', status, {
      fields: from(allowed, ...bearer, 'Content-Type', 'application/json'),
      body,
      ...more,
    })
  const [good, found] = ['{"target":"192.0.2.9"}', { includes: ['192.0.2.9'] }]
  const invalid = { json: { error: 'invalid_request' } }
  const missing = { json: { error: 'not_found' } }
  const notAllowed = (allow: string) => ({ headers: { allow }, json: { error: 'method_not_allowed' } })
  const document = '/v1/openapi.json'

  return [
    row('200', 'GET', document, 200, { headers: { 'content-type': JSON_TYPE } }),
    row('HEAD', 'HEAD', document, 200),
    row('a blocked visitor', 'GET', '/v1/myip', 403, { fields: from(blocked), inspectedFirst: true }),
    row('a blocked visitor, by a method that no route has', 'PROPFIND', '/v1/myip', 403, {
      fields: from(blocked),
      inspectedFirst: true,
    }),
    row('400', 'GET', '/v1/demo/not-an-address', 400, { json: { error: 'invalid_ip' } }),
    lookup('401, whatever the body', 401, good, {
      fields: from(allowed, 'Content-Type', 'application/json'),
      json: { error: 'unauthorized' },
    }),
    row('404', 'GET', '/v1/nothing-here', 404, missing),
    row('the index', 'GET', '/v1', 200, { json: { name: 'Sallyport' } }),
    ...otherMethods('POST', 'HEAD').map((method) =>
      row(`405 of ${method}`, method, '/v1/ip/lookup', 405, notAllowed('POST')),
    ),
    row('405 of a method with a body, which nobody parses', 'PROPFIND', `${document}?depth=1`, 405, {
      fields: from(allowed, 'Content-Type', 'application/json'),
      body: '{"target":',
      ...notAllowed('GET, HEAD'),
      refusedByParsers: true,
    }),
    row('404 of PROPFIND', 'PROPFIND', '/v1/nothing-here', 404, missing),
    row('405 of PROPFIND at its root', 'PROPFIND', '/v1', 405, notAllowed('GET, HEAD')),
    row('an index in absolute form', 'GET', '/v1', 200, { absolute: true }),
    row('a document with a query in absolute form', 'GET', `${document}?x=1`, 200, { absolute: true }),
    row('405 of PROPFIND in absolute form', 'PROPFIND', '/v1/ip/lookup', 405, { absolute: true }),
    lookup('a JSON body', 200, good, found),
    lookup('a JSON body without a Content-Type', 200, good, { fields: from(allowed, ...bearer), ...found }),
    lookup('a JSON body that says it is a form', 200, good, {
      fields: from(allowed, ...bearer, 'Content-Type', 'application/x-www-form-urlencoded'),
      ...found,
      refusedByParsers: true,
    }),
    lookup('two Authorizations, the first of which would do', 400, good, {
      twice: true,
      fields: from(allowed, ...bearer, 'Content-Type', 'application/json', ...bearer),
      ...invalid,
    }),
    lookup('invalid JSON', 400, '{"target":', { ...invalid, refusedByParsers: true }),
    lookup('an empty body', 400, '', invalid),
    lookup('a compressed body', 400, '{}', {
      fields: from(allowed, ...bearer, 'Content-Type', 'application/json', 'Content-Encoding', 'br'),
      ...invalid,
      refusedByParsers: true,
    }),
    lookup('a body of 10 MB, of which nothing is sent', 413, undefined, {
      fields: from(allowed, ...bearer, 'Content-Type', 'application/json', 'Content-Length', String(10 * 1024 * 1024)),
      unsent: true,
      headers: { connection: 'close' },
      json: { error: 'payload_too_large' },
      refusedByParsers: true,
    }),
    row('invalid_request of %zz%', 'GET', '/v1/demo/%zz%', 400, invalid),
    row('a strange query', 'GET', `${document}?q="<>&q=%zz&q=%ff#part`, 200),
  ]
}
