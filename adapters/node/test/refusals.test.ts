import { createHash } from 'node:crypto'
import t from 'tap'
import { refusal, rendered } from '../src/answer/refusal.ts'
import type { RefusalPage } from '../src/request/request-host.ts'

const blocked = refusal('request_blocked')
const ID = 'c0ffee'

/** The page of a browser that reads these languages. */
function pageOf(
  languages: string,
  page: RefusalPage = {},
  status = 403,
): { headers: Record<string, string>; body: string } {
  const fields = ['Accept', 'text/html', 'Accept-Language', languages]
  const { headers, body } = rendered({ ...blocked, status }, { id: ID, fields, page })
  return { headers: { ...headers }, body: String(body) }
}

t.test('a program gets the code and the id in JSON, and not what caught it', (t) => {
  const { status, headers, body } = rendered(blocked, { id: ID, fields: [] })
  t.equal(status, 403)
  t.equal(headers['content-type'], 'application/json; charset=utf-8')
  t.equal(headers['cache-control'], 'no-store')
  t.same(JSON.parse(String(body)), {
    error: 'request_blocked',
    message: 'This request was blocked by the policy of this site.',
    details: { requestId: ID },
  })
  t.end()
})

t.test('HTML for clients that prefer it', (t) => {
  const rows: readonly (readonly [accept: string | undefined, html: boolean])[] = [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['text/html', true],
    ['TEXT/HTML', true],
    ['text/*, application/json;q=0.5', true],
    ['application/json;q=0, */*', true],
    ['text/html;q=0.5, application/json;q=0.4', true],
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/json', false],
    ['application/json, text/html', false],
    ['text/html;q=0.1, */*', false],
    ['text/html;q=0', false],
    ['text/html;q=2', false],
    ['text/html;q=x', false],
    ['text/htmlx', false],
    ['image/avif,*/*;q=0.8', false],
  ]
  for (const [accept, html] of rows) {
    const { headers } = rendered(blocked, { id: ID, fields: accept === undefined ? [] : ['aCCept', accept] })
    t.equal(headers['content-type']?.startsWith('text/html'), html, String(accept))
  }
  const split = ['Accept', 'application/json;q=0.5', 'X', 'text/html', 'Accept', 'text/html']
  t.match(
    rendered(blocked, { id: ID, fields: split }).body,
    /^<!doctype html>/,
    'a field that is sent twice is one list',
  )
  t.match(rendered(blocked, { id: ID }).body, /^\{/, 'no fields, no page')
  t.end()
})

t.test('the page speaks the language of its reader', (t) => {
  for (const [languages, lang, title] of [
    ['de-AT,de;q=0.9,en;q=0.5', 'de', 'Zugriff verweigert'],
    ['xx, fr;q=0.3', 'fr', 'Accès refusé'],
    ['en;q=0.1, es', 'es', 'Acceso denegado'],
    ['xx', 'en', 'Access denied'],
    ['', 'en', 'Access denied'],
    ['*', 'en', 'Access denied'],
    [';;;q=,', 'en', 'Access denied'],
  ] as const) {
    const { headers, body } = pageOf(languages)
    t.equal(headers['content-language'], lang, languages)
    t.ok(body.includes(`<html lang="${lang}">`) && body.includes(`<h1>${title}</h1>`), languages)
  }
  t.match(pageOf('it', {}, 404).body, 'Pagina non trovata')
  t.match(pageOf('nl', {}, 503).body, 'Probeer het zo opnieuw')
  t.match(pageOf('pt', {}, 502).body, 'Indisponível')
  t.match(pageOf('en', {}, 400).body, 'Bad request')
  t.end()
})

t.test("the site's own words stand on the page of a block, by language where it has them", (t) => {
  const page = {
    title: 'Members only',
    text: { en: 'Please sign in.', de: 'Bitte anmelden.' },
    contact: 'a@site.example',
  }
  const { body } = pageOf('de', page)
  t.match(body, '<h1>Members only</h1>')
  t.match(body, 'Bitte anmelden.')
  t.match(pageOf('ja', page).body, 'Please sign in.')
  t.match(body, `<a href="mailto:a@site.example?subject=${ID}">a@site.example</a>`)
  t.match(
    pageOf('en', { contact: 'https://site.example/help?a&b' }).body,
    '<a href="https://site.example/help?a&amp;b">',
  )
  t.match(pageOf('en', { contact: 'Call <us>' }).body, 'Call &lt;us&gt;')
  t.notMatch(pageOf('de', page, 502).body, 'Members only', 'an origin that is away is no question of membership')
  t.end()
})

t.test('a template has its placeholders filled in, escaped', (t) => {
  const template = '<p lang={{lang}}>{{ title }} {{text}} {{id}} {{status}} {{contact}} {{other}} {{constructor}}</p>'
  const { headers, body } = pageOf('fr', { template, title: '<b>', contact: 'x' })
  t.equal(body, `<p lang=fr>&lt;b&gt; Ce site n’accepte pas cette requête. ${ID} 403 x {{other}} {{constructor}}</p>`)
  t.notOk('content-security-policy' in headers, 'what it may load is its own affair')
  t.end()
})

t.test('the page runs nothing and loads nothing', (t) => {
  const { headers, body } = pageOf('en', { title: `<script>alert("1")</script>&'` })
  t.ok(body.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;'))
  t.notOk(body.includes('<script'))
  t.notMatch(body, /(?:src|href|style)=/)
  const style = /<style>(.*)<\/style>/s.exec(body)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  t.ok(headers['content-security-policy']?.includes(`default-src 'none'; style-src 'sha256-${hash}'`))
  t.equal(headers['vary'], 'Accept, Accept-Language')
  t.ok(body.includes(`<code>${ID}</code>`))
  t.end()
})
