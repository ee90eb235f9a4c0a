import { from, JSON_TYPE, REQUEST_ID, type Row, readVerdict } from './conformance-row.ts'
import type { Scene, Visitor } from './scene.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const LINKS = ['User-Agent', 'ELinks/0.16.1.1 (textmode; Linux; 80x24-2)']
const SPELLINGS = `sallyport-action Sallyport-Action SALLYPORT-ACTION sallyport_action Sallyport_Network_Class
sallyport.asn SALLYPORT.country sallyport-enforced sallyport_network.class Sallyport-Trial`.split(/\s/)

/** The row of a request that is refused: a refused upgrade is answered like it. */
export const BLOCKED = 'a blocked program'

/** Lists the headers of a page, of plain text and of JSON in a language. */
const page = (language: string) => ({ 'content-type': 'text/html; charset=utf-8', 'content-language': language })
const plain = (language: string) => ({ 'content-type': 'text/plain; charset=utf-8', 'content-language': language })
const json = { 'content-type': JSON_TYPE, 'cache-control': 'no-store' }

/** Requests for the host's own site. */
export function siteRows({ allowed, flagged, blocked }: Scene): readonly Row[] {
  const row = (name: string, status: number, fields: readonly string[], more: Partial<Row> = {}): Row => {
    return { name, method: 'GET', path: '/shop?item=1', fields, status, ...more }
  }
  const sees = (visitor: Visitor, ...more: readonly string[]) => {
    const fields = [...readVerdict(visitor), ...more]
    const pairs = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))
    return { json: { fields, headers: Object.fromEntries(pairs) } }
  }
  const refused = (name: string, fields: readonly string[], more: Partial<Row> = {}): Row =>
    row(name, 403, from(blocked, ...fields), more)
  const byLaw = (name: string, fields: readonly string[], headers = {}, more: Partial<Row> = {}): Row => {
    const law = { link: '</>; rel="blocked-by"', 'cache-control': 'no-store' }
    return row(name, 451, from(blocked, ...fields), { path: '/by-law', headers: { ...law, ...headers }, ...more })
  }
  const watched = (name: string, visitor: Visitor, more: Partial<Row>): Row =>
    row(name, 200, from(visitor), { mode: 'monitor', ...more })
  const posted = (name: string, type: string, body: string, read: unknown, more: Partial<Row> = {}): Row => {
    const sent = { method: 'POST', path: '/shop', body, json: { method: 'POST', target: '/shop', body: read } }
    return row(name, 200, from(allowed, 'Content-Type', type), { ...sent, ...more })
  }
  const blocking = { json: { error: 'request_blocked' } }
  const passed = sees(blocked, 'sallyport-enforced', 'false')

  return [
    row('an allowed visitor', 200, from(allowed), sees(allowed)),
    row('a flagged visitor', 200, from(flagged), sees(flagged)),
    refused(BLOCKED, ['Accept', '*/*'], { headers: json, ...blocking }),
    refused('a blocked browser', ['Accept', BROWSER], {
      headers: { ...page('en'), 'cache-control': 'no-store' },
      includes: ['<!doctype html>', 'Access denied'],
    }),
    refused('a blocked browser that accepts anything', ['Accept', '*/*', ...LINKS], {
      headers: page('en'),
      includes: ['<html lang="en" dir="ltr">', 'This site has blocked your request.'],
    }),
    refused('a blocked script of a browser', ['Accept', '*/*', ...LINKS, 'Sec-Fetch-Mode', 'cors'], {
      headers: json,
      ...blocking,
    }),
    refused(
      'a blocked reader of Arabic',
      ['Accept', 'application/json, text/html;q=0.1', 'Accept-Language', 'ar-EG,ar;q=0.9,en;q=0.1'],
      { headers: page('ar'), includes: ['<html lang="ar" dir="rtl">'] },
    ),
    refused('a blocked reader of plain text', ['Accept', 'text/plain', 'Accept-Language', 'de'], {
      headers: plain('de'),
      includes: ['Zugriff verweigert. Diese Website hat die Anfrage abgelehnt.', `Kennung: ${REQUEST_ID}`],
    }),
    refused('a blocked HEAD', [], { method: 'HEAD', path: '/shop' }),
    byLaw('a program that a law keeps out', ['Accept', 'application/json'], json, {
      json: { error: 'unavailable_for_legal_reasons' },
    }),
    byLaw('a browser that a law keeps out', ['Accept', BROWSER, 'Accept-Language', 'fr'], page('fr'), {
      includes: ['Indisponible pour des raisons juridiques'],
    }),
    byLaw('a HEAD that a law keeps out', [], {}, { method: 'HEAD' }),
    byLaw('a POST that a law keeps out', ['Content-Length', '0'], {}, { method: 'POST' }),
    watched('monitor mode keeps nobody out by law', blocked, { path: '/by-law', ...passed }),
    refused('a blocked body of 10 MB, of which nothing is sent', ['Content-Length', String(10 * 1024 * 1024)], {
      method: 'POST',
      path: '/shop',
      unsent: true,
      headers: { connection: 'close' },
    }),
    watched('monitor mode lets a block pass and says so', blocked, passed),
    watched('monitor mode says nothing of an allow', allowed, sees(allowed)),
    row('a rule on trial is not carried out, and the site sees what it would have done', 200, from(allowed), {
      path: '/tried',
      ...sees(allowed, 'sallyport-trial', 'block'),
    }),
    row(
      'a verdict sent by the visitor, in ten spellings',
      200,
      from(flagged, ...SPELLINGS.flatMap((name) => [name, 'allow'])),
      sees(flagged),
    ),
    posted("a body for the host's own route", 'application/json', '{"cart":[1,2]}', { cart: [1, 2] }),
    posted(
      "a form for the host's own route",
      'application/x-www-form-urlencoded',
      'item=1&size=two+three',
      { item: '1', size: 'two three' },
      { form: true },
    ),
    row('an allowed OPTIONS', 200, from(allowed), { method: 'OPTIONS', path: '/shop' }),
    refused('a blocked OPTIONS', [], { method: 'OPTIONS', path: '/shop' }),
    row('a path that only begins like the API', 200, from(allowed), { path: '/v1beta', api: true, ...sees(allowed) }),
    refused('a blocked visitor who asks in absolute form', [], { path: '/shop', absolute: true, ...blocking }),
  ]
}
