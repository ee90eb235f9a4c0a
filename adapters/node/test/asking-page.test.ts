import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { REFUSAL_TEXTS } from '../src/answer/refusal-texts.ts'
import { CHALLENGE_TEXTS } from '../src/challenge/page-texts.ts'
import { NAVIGATION, openAskingSite } from './asking.ts'

const LANGUAGES = Object.keys(CHALLENGE_TEXTS)

t.test('the page is one small answer that nobody keeps, and its policy names its two parts', async (t) => {
  const { ask } = await openAskingSite(t, { challenge: { path: '/gate' } })
  const { status, headers, body } = await ask('/puzzle')
  t.equal(status, 403)
  t.equal(headers['x-content-type-options'], 'nosniff')
  const hashText = (tag: string): string => {
    const [, inner = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(body) ?? []
    return `'sha256-${createHash('sha256').update(inner).digest('base64')}'`
  }
  t.equal(
    headers['content-security-policy'],
    `default-src 'none'; style-src ${hashText('style')}; script-src ${hashText('script')}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  t.notMatch(body, /\ssrc=|<link|@import|url\(|https?:/, 'nothing else is loaded')
  t.match(body, 'data-path="/gate/pass"')
  for (const lang of LANGUAGES) {
    const { length } = gzipSync((await ask('/puzzle', { ...NAVIGATION, 'accept-language': lang })).body)
    t.ok(length < 4_500, `${length} bytes of ${lang}; 12,000 are the limit`)
  }
})

t.test('every language of the refusals has all texts, and each its own', async (t) => {
  t.same(LANGUAGES, Object.keys(REFUSAL_TEXTS))
  const { en } = CHALLENGE_TEXTS
  for (const [lang, texts] of Object.entries(CHALLENGE_TEXTS)) {
    t.same(Object.keys(texts), Object.keys(en ?? {}), lang)
    t.match(texts.time, '{time}', lang)
    const same = Object.entries(texts).filter(([name, text]) => lang !== 'en' && text === en?.[name as keyof typeof en])
    t.same(same, [], lang)
  }
})

t.test('the page says why it is there and how long it takes, in the language that is liked', async (t) => {
  const { ask } = await openAskingSite(t, { refusal: { contact: 'help@shop.example' } })
  for (const [accepted, lang, dir, title, waits, works] of [
    ['de-AT,en;q=0.5', 'de', 'ltr', 'Einen Moment', 'Wartezeit: etwa 8 Sekunden.', 'Wartezeit: etwa 1 Sekunde.'],
    ['ar', 'ar', 'rtl', 'لحظة واحدة', 'مدة الانتظار: 8 ثوان تقريبًا.', 'مدة الانتظار: ثانية تقريبًا.'],
    ['xx', 'en', 'ltr', 'One moment', 'Waiting time: about 8 seconds.', 'Waiting time: about 1 second.'],
  ] as const) {
    const { headers, body } = await ask('/puzzle', { ...NAVIGATION, 'accept-language': accepted })
    t.equal(headers['content-language'], lang)
    t.match(body, `<html lang="${lang}" dir="${dir}">`)
    t.match(body, `<title>${title} · shop.example</title>`)
    t.match(body, `<h1 id="title" dir="auto">${title}</h1>`)
    t.match(body, `<p id="said" role="status">${waits} ${CHALLENGE_TEXTS[lang]?.download}</p>`, 'without script')
    t.match(body, `data-time="${works}"`, 'with script')
    t.match(body, `>${CHALLENGE_TEXTS[lang]?.text}<`)
    t.match(body, 'mailto:help@shop.example')
    t.match(body, /<code dir="ltr">[0-9a-f-]{36}<\/code>/)
    t.equal(body.match(/<h1/g)?.length, 1)
  }
  const { body } = await ask('/script')
  t.match(body, 'role="status">This check needs JavaScript.')
  t.notMatch(body, 'http-equiv="refresh"')
})

t.test('a site has its own words, by language, and they are text', async (t) => {
  const title = { en: '<b>Knock</b>', fr: 'Toc toc' }
  const text = 'This shop checks for automated programs.'
  const { ask } = await openAskingSite(t, { challenge: { path: '/.sallyport', title, text } })
  const french = await ask('/puzzle', { ...NAVIGATION, 'accept-language': 'fr' })
  t.match(french.body, '<h1 id="title" dir="auto">Toc toc</h1>')
  const german = await ask('/puzzle', { ...NAVIGATION, 'accept-language': 'de' })
  t.match(german.body, '<h1 id="title" lang="en" dir="auto">&lt;b&gt;Knock&lt;/b&gt;</h1>')
  t.match(german.body, '<p dir="auto">This shop checks for automated programs.</p>')
})

t.test('the page comes back to the wanted URL, however that is written', async (t) => {
  const { ask } = await openAskingSite(t)
  for (const [target, back] of [
    ['/a', '?sallyport-again=1'],
    ['/a?b=1&c="<', '?b=1&amp;c=&quot;&lt;&amp;sallyport-again=1'],
    ['//evil.example/', '?sallyport-again=1'],
    ['http://shop.example/x?y', '?y&amp;sallyport-again=1'],
  ] as const) {
    const { body } = await ask(target)
    t.match(body, `<meta http-equiv="refresh" content="1;url=${back}">`, target)
    t.match(body, `<a href="${back}">`, target)
  }
})
