import { createHash } from 'node:crypto'
import t from 'tap'
import { refusal, rendered } from '../src/answer/refusal.ts'
import { REFUSAL_TEXTS } from '../src/answer/refusal-texts.ts'
import type { RefusalPage } from '../src/request/request-host.ts'

const blocked = refusal('request_blocked')
const ID = 'c0ffee'

/** Renders the page for a browser that reads these languages: it has headers and a body. */
function renderPage(
  languages: string,
  page: RefusalPage = {},
  status = 403,
): { headers: Record<string, string>; body: string } {
  const fields = ['Accept', 'text/html', 'Accept-Language', languages]
  const { headers, body } = rendered({ ...blocked, status }, { id: ID, fields, page })
  return { headers: { ...headers }, body: String(body) }
}

t.test('a program gets the code and the id in JSON, and not what caught it', async (t) => {
  const { body } = rendered(blocked, { id: ID, fields: [] })
  t.same(JSON.parse(String(body)), {
    error: 'request_blocked',
    message: 'This request was blocked by the policy of this site.',
    details: { requestId: ID },
  })
})

function chooseForm(fields: readonly string[], isBrowser?: () => boolean): string {
  return rendered(blocked, { id: ID, fields, isBrowser }).headers['content-type'] ?? ''
}

const PAGE = 'text/html; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'

t.test('a page where HTML is named, plain text where that is asked for, else JSON', async (t) => {
  for (const [accept, form] of [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', PAGE],
    ['text/*, application/json;q=0.5', PAGE],
    ['application/json;q=0, */*', PAGE],
    ['application/json, text/plain, text/html;q=0.001', PAGE],
    ['text/html;q=0.1, */*', PAGE],
    ['text/html;q=x', PAGE],
    ['text/plain', TEXT],
    ['text/html;q=0, text/plain', TEXT],
    ['text/plain, application/json;q=0.9', TEXT],
    ['application/json, text/plain, */*', JSON_TYPE],
    [undefined, JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['text/html;q=0', JSON_TYPE],
    ['text/html;level=1;q=0.000', JSON_TYPE],
    ['text/htmlx', JSON_TYPE],
    ['image/avif,*/*;q=0.8', JSON_TYPE],
  ] as const) {
    t.equal(chooseForm(accept === undefined ? [] : ['aCCept', accept]), form, String(accept))
  }
  const split = ['Accept', 'application/json;q=0.5', 'X', 'text/html', 'Accept', 'text/html']
  t.match(rendered(blocked, { id: ID, fields: split }).body, /^<!doctype html>/, 'two fields are one list')
  t.match(rendered(blocked, { id: ID }).body, /^\{/, 'no fields, no page')
})

t.test('a browser that accepts anything gets a page, except for scripts, pictures and sockets', async (t) => {
  for (const [form, ...fields] of [
    [PAGE, 'Accept', '*/*'],
    [PAGE, 'Accept', '*/*', 'Sec-Fetch-Mode', 'navigate'],
    [PAGE, 'Accept', '*/*', 'X-Requested-With', 'com.example.browser'],
    [JSON_TYPE, 'Accept', '*/*', 'Sec-Fetch-Mode', 'cors', 'Sec-Fetch-Dest', 'empty'],
    [JSON_TYPE, 'Accept', '*/*', 'X-Requested-With', 'XMLHttpRequest'],
    [JSON_TYPE, 'Upgrade', 'websocket', 'Connection', 'Upgrade'],
    [JSON_TYPE, 'Accept', 'application/json, */*'],
    [TEXT, 'Accept', 'text/plain'],
  ] as const) {
    const chosen = chooseForm(fields, () => true)
    t.equal(chosen, form, fields.join(' '))
  }
  for (const accept of ['text/html', 'text/plain', 'application/json'])
    chooseForm(['Accept', accept], () => t.fail('the request was looked at, although its fields say it') as never)
})

t.test('plain text says what the page says', async (t) => {
  const readText = (languages: string, page: RefusalPage = {}, status = 403) => {
    const fields = ['Accept', 'text/plain', 'Accept-Language', languages]
    return rendered({ ...blocked, status }, { id: ID, fields, page })
  }
  const { headers, body } = readText('en', { contact: 'help@site.example' })
  t.match(headers, { 'content-language': 'en', vary: 'Accept, Accept-Language', 'cache-control': 'no-store' })
  t.equal(
    body,
    `Access denied. This site has blocked your request.

If you think that this is a mistake, contact the site and include the reference: help@site.example

Reference: ${ID}
`,
  )
  t.match(readText('en').body, /contact the site owner and include the reference below\.\n\nReference/)
  t.match(readText('ar').body, `الرقم المرجعي: ${ID}`)
  t.match(readText('en', {}, 429).body, /^Too many requests\. .*Wait a moment, then try again\.\n\nReference/)
  t.match(readText('en', { title: 'No!', text: 'Not <here>.' }).body, /^No! Not <here>\.\n\nReference/)
})

t.test('the page speaks the language of its reader', async (t) => {
  for (const [languages, lang, title] of [
    ['de-AT,de;q=0.9,en;q=0.5', 'de', 'Zugriff verweigert'],
    ['xx', 'en', 'Access denied'],
    ['zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7', 'zh-Hant', '存取遭拒'],
    ['zh-TW;q=0.5, zh;q=0.9', 'zh', '访问被拒绝'],
    [';;;q=,', 'en', 'Access denied'],
  ] as const) {
    const { headers, body } = renderPage(languages)
    t.equal(headers['content-language'], lang, languages)
    t.ok(body.includes(`<html lang="${lang}" dir="ltr">`) && body.includes(`<h1 dir="auto">${title}</h1>`), languages)
  }
  t.match(renderPage('it', {}, 404).body, 'Pagina non trovata')
  t.match(renderPage('nl', {}, 503).body, 'Probeer het zo opnieuw')
  t.match(renderPage('en', {}, 413).body, 'larger than this site accepts')
})

t.test('Arabic is written from right to left, and what is in Latin letters is not', async (t) => {
  const page = { title: { en: 'Members only' }, contact: 'help@site.example' }
  const { body } = renderPage('ar-EG,ar;q=0.9', page)
  t.ok(body.includes('<html lang="ar" dir="rtl">'))
  t.ok(body.includes('<h1 lang="en" dir="auto">Members only</h1>'))
  t.ok(body.includes('<a dir="ltr" href="mailto:help@site.example'))
  t.ok(body.includes(`<code dir="ltr">${ID}</code>`))
  t.match(renderPage('ar', { template: '<html lang={{lang}} dir={{dir}}>' }).body, '<html lang=ar dir=rtl>')
})

t.test('each language has each text', async (t) => {
  for (const [language, texts] of Object.entries(REFUSAL_TEXTS)) {
    for (const status of [403, 404, 413, 429, 503, 502, 400]) {
      const { headers, body } = renderPage(language, {}, status)
      t.equal(headers['content-language'], language)
      t.notMatch(body, /undefined|<(?:h1|p)(?: [^>]*)?></)
    }
    const said = Object.values(texts).flatMap((one) => (typeof one === 'string' ? [one] : [one.title, one.text]))
    t.equal(new Set(said).size, said.length, `${language} says nothing twice`)
  }
})

t.test("the site's own words stand on the page of a block, by language where it has them", async (t) => {
  const text = { en: 'Please sign in.', de: 'Bitte anmelden.' }
  const page = { title: 'Members only', text, contact: 'a@site.example' }
  const { body } = renderPage('de', page)
  t.match(body, '<h1 dir="auto">Members only</h1>')
  t.match(body, 'Bitte anmelden.')
  t.match(renderPage('ja', page).body, '<p lang="en" dir="auto">Please sign in.</p>')
  t.notMatch(renderPage('en', { text: 'Please sign in.' }).body, 'mistake', 'who has a text of its own says what to do')
  t.match(body, `<a dir="ltr" href="mailto:a@site.example?subject=${ID}">a@site.example</a>`)
  const [mail, link] = ['mailto:a@site.example', 'https://site.example/help?a&b']
  t.match(renderPage('en', { contact: mail }).body, `<a dir="ltr" href="${mail}?subject=${ID}">a@site.example</a>`)
  t.match(renderPage('en', { contact: link }).body, '<a dir="ltr" href="https://site.example/help?a&amp;b">')
  t.match(renderPage('en', { contact: 'Call <us>' }).body, 'Call &lt;us&gt;')
  t.notMatch(renderPage('de', page, 502).body, 'Members only', 'an origin that is away is no question of membership')
})

t.test('a template has its placeholders filled in, escaped', async (t) => {
  const template = '<p lang={{lang}}>{{ title }} {{text}} {{id}} {{status}} {{contact}} {{other}} {{constructor}}</p>'
  const { headers, body } = renderPage('fr', { template, title: '<b>', contact: 'x' })
  t.equal(body, `<p lang=fr>&lt;b&gt; Ce site a refusé la requête. ${ID} 403 x {{other}} {{constructor}}</p>`)
  t.notOk('content-security-policy' in headers, 'what it may load is its own affair')
})

t.test('the page runs nothing and loads nothing', async (t) => {
  const { headers, body } = renderPage('en', { title: `<script>alert("1")</script>&'` })
  t.ok(body.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;'))
  t.notOk(body.includes('<script'))
  t.notMatch(body, /(?:src|href|style)=/)
  const style = /<style>(.*)<\/style>/s.exec(body)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  t.ok(headers['content-security-policy']?.includes(`default-src 'none'; style-src 'sha256-${hash}'`))
  t.equal(headers['vary'], 'Accept, Accept-Language')
  t.ok(body.includes(`<code dir="ltr">${ID}</code>`))
})

t.test('who is limited reads how long to wait, in the language of the page', async (t) => {
  for (const [languages, seconds, text] of [
    ['en', '600', 'then try again. (in 10 minutes)'],
    ['de', '61', '(in 61 Sekunden)'],
  ] as const) {
    const limited = { ...refusal('rate_limit_exceeded'), headers: { 'retry-after': seconds } }
    t.match(rendered(limited, { id: ID, fields: ['Accept', 'text/html', 'Accept-Language', languages] }).body, text)
  }
  t.notMatch(renderPage('en', {}, 429).body, '(in ', 'nothing is made up where no time is known')
})
