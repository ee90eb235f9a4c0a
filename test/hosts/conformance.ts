import { METHODS } from 'node:http'
import type { Scene, Visitor } from './scene.ts'

/** One request and what every host must answer to it. */
export interface Row {
  readonly name: string
  readonly mode?: 'monitor' | undefined
  readonly method: string
  /** Target; under the API's mount when `api` is set. */
  readonly path: string
  readonly api?: true | undefined
  /** The target is sent in absolute form (RFC 9112 3.2.2). */
  readonly absolute?: true | undefined
  /** Name, value, name, value …, as they are written on the wire. */
  readonly fields: readonly string[]
  readonly body?: string | undefined
  readonly status: number
  /** Response headers that must have these values. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Members that the JSON of the response must have. */
  readonly json?: Readonly<Record<string, unknown>> | undefined
  /** Texts that must stand in the response. */
  readonly includes?: readonly string[] | undefined
  /** A parser of the host's own that stands before the API answers this in its own words, if at all. */
  readonly refusedByParsers?: true | undefined
  /** Its body is announced and never sent. */
  readonly unsent?: true | undefined
  /** Its body is a form, for which a host may have no parser. */
  readonly form?: true | undefined
  /** The API reads its body, which that of a made scene does not. */
  readonly readsBody?: true | undefined
  /** It has two fields of one name. */
  readonly twice?: true | undefined
  /** Inspection stands before the API. */
  readonly inspectedFirst?: true | undefined
}

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const JSON_TYPE = 'application/json; charset=utf-8'
const SPELLINGS = `sallyport-action Sallyport-Action SALLYPORT-ACTION sallyport_action Sallyport_Network_Class
sallyport.asn SALLYPORT.country sallyport-enforced sallyport_network.class Sallyport-Trial`.split(/\s/)

/** Id that the trusted proxy in front of every host gives each request. */
export const REQUEST_ID = 'conformance-1'

/** The fields of ours that the site sees of a visitor. */
export function verdictOf({ verdict }: Visitor): readonly string[] {
  const [action, networkClass] = [verdict.slice(0, 2), verdict.slice(2, 4)]
  return [...action, ...networkClass, 'sallyport-request-id', REQUEST_ID, ...verdict.slice(4)]
}

/** Every method that Node parses and hands on as a request, but `some`. */
function otherMethods(...some: readonly string[]): readonly string[] {
  return METHODS.filter((method) => ![...some, 'CONNECT'].includes(method))
}

/** The row of a request that is refused: a refused upgrade is answered like it. */
export const BLOCKED = 'a blocked program'

/** The conformance table: requests by expected answers, for whatever Sallyport the scene is played with. */
export function conformanceRows(scene: Scene): readonly Row[] {
  const from = (visitor: Visitor, ...fields: readonly string[]) => ['X-Forwarded-For', visitor.address, ...fields]
  const sees = (visitor: Visitor, ...more: readonly string[]) => {
    const fields = [...verdictOf(visitor), ...more]
    const pairs = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))
    return { fields, headers: Object.fromEntries(pairs) }
  }
  const { allowed, flagged, blocked } = scene
  const lookup = { method: 'POST', path: '/v1/ip/lookup', api: true } as const
  const keyed = from(allowed, 'Authorization', `Bearer ${scene.key}`, 'Content-Type', 'application/json')
  const get = { method: 'GET', path: '/shop?item=1' } as const

  return [
    { name: 'an allowed visitor', ...get, fields: from(allowed), status: 200, json: sees(allowed) },
    { name: 'a flagged visitor', ...get, fields: from(flagged), status: 200, json: sees(flagged) },
    {
      name: BLOCKED,
      ...get,
      fields: from(blocked, 'Accept', '*/*'),
      status: 403,
      headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store' },
      json: { error: 'request_blocked' },
    },
    {
      name: 'a blocked browser',
      ...get,
      fields: from(blocked, 'Accept', BROWSER),
      status: 403,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
      includes: ['<!doctype html>', 'Access denied'],
    },
    {
      name: 'a blocked browser that accepts anything',
      ...get,
      fields: from(blocked, 'Accept', '*/*', 'User-Agent', 'ELinks/0.16.1.1 (textmode; Linux; 80x24-2)'),
      status: 403,
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-language': 'en' },
      includes: ['<html lang="en" dir="ltr">', 'This site has refused the request.'],
    },
    {
      name: 'a blocked script of a browser',
      ...get,
      fields: from(blocked, 'Accept', '*/*', 'User-Agent', 'ELinks/0.16.1.1 (textmode)', 'Sec-Fetch-Mode', 'cors'),
      status: 403,
      headers: { 'content-type': JSON_TYPE },
      json: { error: 'request_blocked' },
    },
    {
      name: 'a blocked reader of Arabic',
      ...get,
      fields: from(
        blocked,
        'Accept',
        'application/json, text/html;q=0.1',
        'Accept-Language',
        'ar-EG,ar;q=0.9,en;q=0.1',
      ),
      status: 403,
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-language': 'ar' },
      includes: ['<html lang="ar" dir="rtl">'],
    },
    {
      name: 'a blocked reader of plain text',
      ...get,
      fields: from(blocked, 'Accept', 'text/plain', 'Accept-Language', 'de'),
      status: 403,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'content-language': 'de' },
      includes: ['Zugriff verweigert. Diese Website hat die Anfrage abgelehnt.', `Kennung: ${REQUEST_ID}`],
    },
    { name: 'a blocked HEAD', method: 'HEAD', path: '/shop', fields: from(blocked), status: 403 },
    {
      name: 'a blocked body of 10 MB, of which nothing is sent',
      method: 'POST',
      path: '/shop',
      fields: from(blocked, 'Content-Length', String(10 * 1024 * 1024)),
      unsent: true,
      status: 403,
      headers: { connection: 'close' },
    },
    {
      name: 'monitor mode lets a block pass and says so',
      mode: 'monitor',
      ...get,
      fields: from(blocked),
      status: 200,
      json: sees(blocked, 'sallyport-enforced', 'false'),
    },
    {
      name: 'monitor mode says nothing of an allow',
      mode: 'monitor',
      ...get,
      fields: from(allowed),
      status: 200,
      json: sees(allowed),
    },
    {
      name: 'a rule on trial is not carried out, and the site sees what it would have done',
      method: 'GET',
      path: '/tried',
      fields: from(allowed),
      status: 200,
      json: sees(allowed, 'sallyport-trial', 'block'),
    },
    {
      name: 'a verdict sent by the visitor, in ten spellings',
      ...get,
      fields: from(flagged, ...SPELLINGS.flatMap((name) => [name, 'allow'])),
      status: 200,
      json: sees(flagged),
    },
    {
      name: "a body for the host's own route",
      method: 'POST',
      path: '/shop',
      fields: from(allowed, 'Content-Type', 'application/json'),
      body: '{"cart":[1,2]}',
      status: 200,
      json: { method: 'POST', target: '/shop', body: { cart: [1, 2] } },
    },
    {
      name: "a form for the host's own route",
      method: 'POST',
      path: '/shop',
      fields: from(allowed, 'Content-Type', 'application/x-www-form-urlencoded'),
      body: 'item=1&size=two+three',
      status: 200,
      json: { method: 'POST', target: '/shop', body: { item: '1', size: 'two three' } },
      form: true,
    },
    { name: 'an allowed OPTIONS', method: 'OPTIONS', path: '/shop', fields: from(allowed), status: 200 },
    { name: 'a blocked OPTIONS', method: 'OPTIONS', path: '/shop', fields: from(blocked), status: 403 },
    {
      name: 'a path that only begins like the API',
      method: 'GET',
      path: '/v1beta',
      api: true,
      fields: from(allowed),
      status: 200,
      json: sees(allowed),
    },
    {
      name: 'API: 200',
      method: 'GET',
      path: '/v1/openapi.json',
      api: true,
      fields: from(allowed),
      status: 200,
      headers: { 'content-type': JSON_TYPE },
    },
    { name: 'API: HEAD', method: 'HEAD', path: '/v1/openapi.json', api: true, fields: from(allowed), status: 200 },
    {
      name: 'API: a blocked visitor',
      method: 'GET',
      path: '/v1/myip',
      api: true,
      fields: from(blocked),
      status: 403,
      inspectedFirst: true,
    },
    {
      name: 'API: a blocked visitor, by a method that no route has',
      method: 'PROPFIND',
      path: '/v1/myip',
      api: true,
      fields: from(blocked),
      status: 403,
      inspectedFirst: true,
    },
    {
      name: 'API: 400',
      method: 'GET',
      path: '/v1/demo/not-an-address',
      api: true,
      fields: from(allowed),
      status: 400,
      json: { error: 'invalid_ip' },
    },
    {
      name: 'API: 401, whatever the body',
      ...lookup,
      fields: from(allowed, 'Content-Type', 'application/json'),
      body: '{"target":"192.0.2.9"}',
      status: 401,
      json: { error: 'unauthorized' },
    },
    {
      name: 'API: 404',
      method: 'GET',
      path: '/v1/nothing-here',
      api: true,
      fields: from(allowed),
      status: 404,
      json: { error: 'not_found' },
    },
    {
      name: 'API: 404 at great length',
      method: 'GET',
      path: `/v1/${'x'.repeat(500)}`,
      api: true,
      fields: from(allowed),
      status: 404,
    },
    {
      name: 'API: the index',
      method: 'GET',
      path: '/v1',
      api: true,
      fields: from(allowed),
      status: 200,
      json: { name: 'Sallyport' },
    },
    {
      name: 'API: 405 names the methods',
      method: 'DELETE',
      path: '/v1/ip/lookup',
      api: true,
      fields: from(allowed),
      status: 405,
      headers: { allow: 'POST' },
      json: { error: 'method_not_allowed' },
    },
    ...otherMethods('POST', 'HEAD').map((method) => ({
      name: `API: 405 of ${method}`,
      method,
      path: '/v1/ip/lookup',
      api: true as const,
      fields: from(allowed),
      status: 405,
      headers: { allow: 'POST' },
      json: { error: 'method_not_allowed' },
    })),
    {
      name: 'API: 405 of a method with a body, which nobody parses',
      method: 'PROPFIND',
      path: '/v1/openapi.json?depth=1',
      api: true,
      fields: from(allowed, 'Content-Type', 'application/json'),
      body: '{"target":',
      status: 405,
      headers: { allow: 'GET, HEAD' },
      json: { error: 'method_not_allowed' },
      refusedByParsers: true,
    },
    ...['PROPFIND', 'PURGE', 'M-SEARCH', 'QUERY'].map((method) => ({
      name: `API: 404 of ${method}`,
      method,
      path: '/v1/nothing-here',
      api: true as const,
      fields: from(allowed),
      status: 404,
      json: { error: 'not_found' },
    })),
    {
      name: 'API: 405 of PROPFIND at its root',
      method: 'PROPFIND',
      path: '/v1',
      api: true,
      fields: from(allowed),
      status: 405,
      headers: { allow: 'GET, HEAD' },
      json: { error: 'method_not_allowed' },
    },
    ...(
      [
        ['GET', '/v1/openapi.json', 200],
        ['GET', '/v1/openapi.json?x=1', 200],
        ['HEAD', '/v1/openapi.json', 200],
        ['GET', '/v1/nothing-here', 404],
        ['GET', '/v1', 200],
        ['PROPFIND', '/v1/ip/lookup', 405],
      ] as const
    ).map(([method, path, status]) => ({
      name: `API: ${method} ${path} in absolute form`,
      method,
      path,
      api: true as const,
      absolute: true as const,
      fields: from(allowed),
      status,
    })),
    {
      name: 'a blocked visitor who asks in absolute form',
      method: 'GET',
      path: '/shop',
      absolute: true,
      fields: from(blocked),
      status: 403,
      json: { error: 'request_blocked' },
    },
    {
      name: 'API: a JSON body',
      ...lookup,
      fields: keyed,
      body: '{"target":"192.0.2.9"}',
      status: 200,
      includes: ['192.0.2.9'],
    },
    {
      name: 'API: a member in another spelling',
      readsBody: true,
      ...lookup,
      fields: keyed,
      body: '{"Target":"192.0.2.9"}',
      status: 400,
      json: { error: 'invalid_request', message: 'Target: is not known; did you mean "target"?' },
      includes: ['"field":"Target"'],
    },
    {
      name: 'API: a JSON body without a Content-Type',
      ...lookup,
      fields: from(allowed, 'Authorization', `Bearer ${scene.key}`),
      body: '{"target":"192.0.2.9"}',
      status: 200,
      includes: ['192.0.2.9'],
    },
    {
      name: 'API: a JSON body with a Content-Type that is none',
      ...lookup,
      fields: from(allowed, 'Authorization', `Bearer ${scene.key}`, 'Content-Type', 'json;;'),
      body: '{"target":"192.0.2.9"}',
      status: 200,
      includes: ['192.0.2.9'],
    },
    {
      name: 'API: a JSON body that says it is a form',
      ...lookup,
      fields: from(
        allowed,
        'Authorization',
        `Bearer ${scene.key}`,
        'Content-Type',
        'application/x-www-form-urlencoded',
      ),
      body: '{"target":"192.0.2.9"}',
      status: 200,
      includes: ['192.0.2.9'],
      refusedByParsers: true,
    },
    {
      name: 'API: two Authorizations, the first of which would do',
      twice: true,
      ...lookup,
      fields: [...keyed, 'Authorization', `Bearer ${scene.key}`],
      body: '{"target":"192.0.2.9"}',
      status: 400,
      json: { error: 'invalid_request' },
    },
    {
      name: 'API: invalid JSON',
      ...lookup,
      fields: keyed,
      body: '{"target":',
      status: 400,
      json: { error: 'invalid_request' },
      refusedByParsers: true,
    },
    {
      name: 'API: an empty body',
      ...lookup,
      fields: keyed,
      body: '',
      status: 400,
      json: { error: 'invalid_request' },
    },
    {
      name: 'API: a compressed body',
      ...lookup,
      fields: [...keyed, 'Content-Encoding', 'br'],
      body: '{}',
      status: 400,
      json: { error: 'invalid_request' },
      refusedByParsers: true,
    },
    {
      name: 'API: a body of 10 MB, of which nothing is sent',
      ...lookup,
      fields: [...keyed, 'Content-Length', String(10 * 1024 * 1024)],
      unsent: true,
      status: 413,
      headers: { connection: 'close' },
      json: { error: 'payload_too_large' },
      refusedByParsers: true,
    },
    ...[
      ['%zz%', 'invalid_request'],
      ['%00', 'invalid_ip'],
    ].map(([parameter = '', error]) => ({
      name: `API: ${error} of ${parameter}`,
      method: 'GET',
      path: `/v1/demo/${parameter}`,
      api: true as const,
      fields: from(allowed),
      status: 400,
      json: { error },
    })),
    ...['?q="<>', '?q=%zz&q=%ff', '#part', '?q={a}|b^c`'].map((query) => ({
      name: `API: a query of ${query}`,
      method: 'GET',
      path: `/v1/openapi.json${query}`,
      api: true as const,
      fields: from(allowed),
      status: 200,
    })),
  ]
}
