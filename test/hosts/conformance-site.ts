import { from, JSON_TYPE, REQUEST_ID, type Row, readVerdict } from './conformance-row.ts'
import type { Scene, Visitor } from './scene.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const SPELLINGS = `sallyport-action Sallyport-Action SALLYPORT-ACTION sallyport_action Sallyport_Network_Class
sallyport.asn SALLYPORT.country sallyport-enforced sallyport_network.class Sallyport-Trial`.split(/\s/)

/** The row of a request that is refused: a refused upgrade is answered like it. */
export const BLOCKED = 'a blocked program'

/** Requests for the host's own site. */
export function siteRows({ allowed, flagged, blocked }: Scene): readonly Row[] {
  const sees = (visitor: Visitor, ...more: readonly string[]) => {
    const fields = [...readVerdict(visitor), ...more]
    const pairs = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))
    return { fields, headers: Object.fromEntries(pairs) }
  }
  const get = { method: 'GET', path: '/shop?item=1' } as const
  const byLaw = {
    method: 'GET',
    path: '/by-law',
    status: 451,
    headers: { link: '</>; rel="blocked-by"', 'cache-control': 'no-store' },
  } as const

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
      includes: ['<html lang="en" dir="ltr">', 'This site has blocked your request.'],
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
      name: 'a program that a law keeps out',
      ...byLaw,
      fields: from(blocked, 'Accept', 'application/json'),
      headers: { ...byLaw.headers, 'content-type': JSON_TYPE },
      json: { error: 'unavailable_for_legal_reasons' },
    },
    {
      name: 'a browser that a law keeps out',
      ...byLaw,
      fields: from(blocked, 'Accept', BROWSER, 'Accept-Language', 'fr'),
      headers: { ...byLaw.headers, 'content-type': 'text/html; charset=utf-8', 'content-language': 'fr' },
      includes: ['Indisponible pour des raisons juridiques'],
    },
    { name: 'a HEAD that a law keeps out', ...byLaw, method: 'HEAD', fields: from(blocked) },
    { name: 'a POST that a law keeps out', ...byLaw, method: 'POST', fields: from(blocked, 'Content-Length', '0') },
    {
      name: 'monitor mode keeps nobody out by law',
      ...get,
      path: '/by-law',
      mode: 'monitor',
      fields: from(blocked),
      status: 200,
      json: sees(blocked, 'sallyport-enforced', 'false'),
    },
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
      name: 'a blocked visitor who asks in absolute form',
      method: 'GET',
      path: '/shop',
      absolute: true,
      fields: from(blocked),
      status: 403,
      json: { error: 'request_blocked' },
    },
  ]
}
