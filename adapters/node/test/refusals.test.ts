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
  const { status, headers, body } = rendered(blocked, { id: ID, fields: [] })
  t.equal(status, 403)
  t.equal(headers['content-type'], 'application/json; charset=utf-8')
  t.equal(headers['cache-control'], 'no-store')
  t.same(JSON.parse(String(body)), {
    error: 'request_blocked',
    message: 'This request was blocked by the policy of this site.',
    details: { requestId: ID },
  })
})

/** Returns the form in which a request with these fields is refused. */
function chooseForm(fields: readonly string[], isBrowser?: () => boolean): string {
  return rendered(blocked, { id: ID, fields, isBrowser }).headers['content-type'] ?? ''
}

const PAGE = 'text/html; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'

t.test('a page where HTML is named, plain text where that is asked for, else JSON', async (t) => {
  const rows: readonly (readonly [accept: string | undefined, form: string])[] = [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', PAGE],
    ['text/html', PAGE],
    ['TEXT/HTML', PAGE],
    ['text/html;level=1', PAGE],
    ['text/*, application/json;q=0.5', PAGE],
    ['application/json;q=0, */*', PAGE],
    ['text/html;q=0.5, application/json;q=0.4', PAGE],
    ['application/json, text/html', PAGE],
    ['application/json, text/plain, text/html;q=0.001', PAGE],
    ['text/html;q=0.1, */*', PAGE],
    ['text/html;q=2', PAGE],
    ['text/html;q=x', PAGE],
    ['*/*;q=0, text/html ; q=0.3', PAGE],
    ['text/html;q=0, text/html', PAGE],
    ['text/plain', TEXT],
    ['TEXT/PLAIN; charset=utf-8', TEXT],
    ['text/plain, */*', TEXT],
    ['text/html;q=0, text/plain', TEXT],
    ['text/plain, application/json;q=0.9', TEXT],
    ['application/json, text/plain, */*', JSON_TYPE],
    ['text/plain;q=0.5, */*', JSON_TYPE],
    ['text/plain;q=0', JSON_TYPE],
    [undefined, JSON_TYPE],
    ['', JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['application/json', JSON_TYPE],
    ['text/html;q=0', JSON_TYPE],
    ['text/html;q=0.0, */*', JSON_TYPE],
    ['text/html;level=1;q=0.000', JSON_TYPE],
    ['text/htmlx', JSON_TYPE],
    ['image/avif,*/*;q=0.8', JSON_TYPE],
    ['text/event-stream', JSON_TYPE],
  ]
  for (const [accept, form] of rows) {
    t.equal(chooseForm(accept === undefined ? [] : ['aCCept', accept]), form, String(accept))
  }
  const split = ['Accept', 'application/json;q=0.5', 'X', 'text/html', 'Accept', 'text/html']
  t.match(
    rendered(blocked, { id: ID, fields: split }).body,
    /^<!doctype html>/,
    'a field that is sent twice is one list',
  )
  t.match(rendered(blocked, { id: ID }).body, /^\{/, 'no fields, no page')
})

t.test('a browser that accepts anything gets a page, except for scripts, pictures and sockets', async (t) => {
  const rows: readonly (readonly [fields: readonly string[], form: string])[] = [
    [[], PAGE],
    [['Accept', ''], PAGE],
    [['Accept', '*/*'], PAGE],
    [['Accept', 'image/webp,*/*;q=0.8'], PAGE],
    [['Accept', '*/*', 'Sec-Fetch-Mode', 'navigate'], PAGE],
    [['Accept', '*/*', 'X-Requested-With', 'com.example.browser'], PAGE],
    [['Accept', '*/*', 'Sec-Fetch-Mode', 'cors', 'Sec-Fetch-Dest', 'empty'], JSON_TYPE],
    [['Accept', '*/*', 'Sec-Fetch-Mode', 'no-cors', 'Sec-Fetch-Dest', 'image'], JSON_TYPE],
    [['Accept', '*/*', 'X-Requested-With', 'XMLHttpRequest'], JSON_TYPE],
    [['Upgrade', 'websocket', 'Connection', 'Upgrade'], JSON_TYPE],
    [['Accept', 'application/json, */*'], JSON_TYPE],
    [['Accept', 'application/json, text/javascript, */*; q=0.01'], JSON_TYPE],
    [['Accept', 'text/event-stream'], JSON_TYPE],
    [['Accept', 'text/plain'], TEXT],
    [['Accept', '*/*;q=0'], JSON_TYPE],
  ]
  for (const [fields, form] of rows)
    t.equal(
      chooseForm(fields, () => true),
      form,
      fields.join(' '),
    )
  const never = () => t.fail('the request was looked at, although its fields say it')
  for (const accept of ['text/html', 'text/plain', 'application/json', 'text/event-stream']) {
    chooseForm(['Accept', accept], () => never() && false)
  }
})

t.test('plain text says what the page says', async (t) => {
  const readText = (languages: string, page: RefusalPage = {}, status = 403) => {
    const fields = ['Accept', 'text/plain', 'Accept-Language', languages]
    return rendered({ ...blocked, status }, { id: ID, fields, page })
  }
  const { headers, body } = readText('en', { contact: 'help@site.example' })
  t.same(
    [headers['content-language'], headers['vary'], headers['cache-control']],
    ['en', 'Accept, Accept-Language', 'no-store'],
  )
  t.equal(
    body,
    `Access denied. This site has blocked your request.

If you think that this is a mistake, contact the site and include the reference: help@site.example

Reference: ${ID}
`,
  )
  t.match(
    readText('en').body,
    /request\.\n\nIf you think .* contact the site owner and include the reference below\.\n\nReference/,
  )
  t.match(readText('ja').body, /^アクセスが拒否されました。このサイトはリクエストを拒否しました。\n/)
  t.match(readText('ar').body, `الرقم المرجعي: ${ID}`)
  t.match(readText('en', {}, 429).body, /^Too many requests\. .*Wait a moment, then try again\.\n\nReference/)
  t.match(readText('en', { title: 'No!', text: 'Not <here>.' }).body, /^No! Not <here>\.\n\nReference/)
})

t.test('the page speaks the language of its reader', async (t) => {
  for (const [languages, lang, title] of [
    ['de-AT,de;q=0.9,en;q=0.5', 'de', 'Zugriff verweigert'],
    ['xx, fr;q=0.3', 'fr', 'Accès refusé'],
    ['en;q=0.1, es', 'es', 'Acceso denegado'],
    ['xx', 'en', 'Access denied'],
    ['ja-JP,ja;q=0.9,en-US;q=0.8', 'ja', 'アクセスが拒否されました'],
    ['zh-CN,zh;q=0.9', 'zh', '访问被拒绝'],
    ['zh', 'zh', '访问被拒绝'],
    ['zh-Hans-HK', 'zh', '访问被拒绝'],
    ['zh-SG,en;q=0.9', 'zh', '访问被拒绝'],
    ['zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7', 'zh-Hant', '存取遭拒'],
    ['zh-HK', 'zh-Hant', '存取遭拒'],
    ['zh-Hant-TW', 'zh-Hant', '存取遭拒'],
    ['ZH-HANT;q=0.5, xx', 'zh-Hant', '存取遭拒'],
    ['en, zh-TW;q=0.5', 'en', 'Access denied'],
    ['zh-TW;q=0.5, zh;q=0.9', 'zh', '访问被拒绝'],
    ['ru-RU,ru;q=0.9', 'ru', 'Доступ запрещён'],
    ['uk-UA,ru;q=0.9', 'uk', 'Доступ заборонено'],
    ['pl-PL', 'pl', 'Odmowa dostępu'],
    ['tr;q=0.8,xx', 'tr', 'Erişim reddedildi'],
    ['ko-KR,en;q=0.1', 'ko', '접근이 거부되었습니다'],
    ['pt-BR', 'pt', 'Acesso negado'],
    ['sr-Latn-RS,tlh', 'en', 'Access denied'],
    ['ja;q=0, ko;q=0.2', 'ko', '접근이 거부되었습니다'],
    ['', 'en', 'Access denied'],
    ['*', 'en', 'Access denied'],
    [';;;q=,', 'en', 'Access denied'],
  ] as const) {
    const { headers, body } = renderPage(languages)
    t.equal(headers['content-language'], lang, languages)
    t.ok(body.includes(`<html lang="${lang}" dir="ltr">`) && body.includes(`<h1 dir="auto">${title}</h1>`), languages)
  }
  t.match(renderPage('it', {}, 404).body, 'Pagina non trovata')
  t.match(renderPage('nl', {}, 503).body, 'Probeer het zo opnieuw')
  t.match(renderPage('pl', {}, 429).body, 'Zbyt wiele żądań')
  t.match(renderPage('pt', {}, 502).body, 'Indisponível')
  t.match(renderPage('en', {}, 400).body, 'Bad request')
  t.match(renderPage('en', {}, 413).body, 'larger than this site accepts')
  t.notMatch(renderPage('en', {}, 413).body, 'Check the address')
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
  const kinds = [403, 404, 413, 429, 503, 502, 400]
  for (const [language, texts] of Object.entries(REFUSAL_TEXTS)) {
    for (const status of kinds) {
      const { headers, body } = renderPage(language, {}, status)
      t.equal(headers['content-language'], language)
      t.notMatch(body, /undefined|<(?:h1|p)(?: [^>]*)?></)
    }
    const said = Object.values(texts).flatMap((one) => (typeof one === 'string' ? [one] : [one.title, one.text]))
    t.equal(new Set(said).size, said.length, `${language} says nothing twice`)
  }
})

t.test("the site's own words stand on the page of a block, by language where it has them", async (t) => {
  const page = {
    title: 'Members only',
    text: { en: 'Please sign in.', de: 'Bitte anmelden.' },
    contact: 'a@site.example',
  }
  const { body } = renderPage('de', page)
  t.match(body, '<h1 dir="auto">Members only</h1>')
  t.match(body, 'Bitte anmelden.')
  t.match(renderPage('ja', page).body, '<p lang="en" dir="auto">Please sign in.</p>')
  t.notMatch(renderPage('en', { text: 'Please sign in.' }).body, 'mistake', 'who has a text of its own says what to do')
  t.match(body, `<a dir="ltr" href="mailto:a@site.example?subject=${ID}">a@site.example</a>`)
  t.equal(
    renderPage('en', { contact: 'mailto:a@site.example' }).body,
    renderPage('en', { contact: 'a@site.example' }).body,
  )
  t.match(
    renderPage('en', { contact: 'https://site.example/help?a&b' }).body,
    '<a dir="ltr" href="https://site.example/help?a&amp;b">',
  )
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
    ['en', 30, 'then try again. (in 30 seconds)'],
    ['en', 600, 'then try again. (in 10 minutes)'],
    ['de', 61, '(in 61 Sekunden)'],
  ] as const) {
    const fields = ['Accept', 'text/html', 'Accept-Language', languages]
    const headers = { 'retry-after': String(seconds) }
    const { body } = rendered({ ...refusal('rate_limit_exceeded'), headers }, { id: ID, fields })
    t.match(body, text)
  }
  t.notMatch(renderPage('en', {}, 429).body, '(in ', 'nothing is made up where no time is known')
})
