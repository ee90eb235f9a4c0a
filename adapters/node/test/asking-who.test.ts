import t from 'tap'
import { FIREFOX, NAVIGATION, openAskingSite } from './asking.ts'

/* A page or JSON: what programs and browsers send for each thing that they ask for. */

const ANY = { 'user-agent': FIREFOX, accept: '*/*' }
const fetched = (mode: string, dest: string) => ({ ...ANY, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest })
const navigates = (dest: string) => ({ ...NAVIGATION, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': dest })

const PAGES = {
  'a navigation of a window': navigates('document'),
  'one that a service worker of Firefox passes on': {
    ...NAVIGATION,
    'sec-fetch-mode': 'same-origin',
    'sec-fetch-dest': 'empty',
    'upgrade-insecure-requests': '1',
  },
  'a navigation over plain HTTP': NAVIGATION,
  'a WebView of Android': { ...NAVIGATION, 'x-requested-with': 'com.example.app' },
  Lynx: { 'user-agent': 'Lynx/2.9.0 libwww-FM/2.14', accept: 'text/html, text/plain, text/sgml, */*;q=0.01' },
  NetSurf: { 'user-agent': 'NetSurf/3.10 (Linux)', accept: '*/*' },
}

const PROGRAMS = {
  'a frame': navigates('iframe'),
  'an embedded file': navigates('embed'),
  'a picture': fetched('no-cors', 'image'),
  'fetch()': fetched('cors', 'empty'),
  'fetch() of the same origin': { ...fetched('same-origin', 'empty'), accept: 'text/html' },
  'a service worker': { ...fetched('same-origin', 'serviceworker'), 'service-worker': 'script' },
  'a script over plain HTTP': ANY,
  'a picture over plain HTTP': { ...ANY, accept: 'image/avif,image/webp,*/*;q=0.8' },
  'XMLHttpRequest of HTML': { ...NAVIGATION, 'x-requested-with': 'XMLHttpRequest' },
  'a prefetch': { ...navigates('document'), 'sec-purpose': 'prefetch' },
  'a prefetch of old': { ...NAVIGATION, 'x-moz': 'prefetch' },
  'a preview of old': { ...NAVIGATION, 'x-purpose': 'preview' },
  'a WebSocket': {
    ...ANY,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  },
  curl: { 'user-agent': 'curl/8.5.0', accept: '*/*' },
  'a feed reader': { 'user-agent': 'Reader/1.0', accept: 'application/atom+xml, text/html, */*;q=0.9' },
}

const JSON_FIELDS = {
  'content-type': 'application/json; charset=utf-8',
  'sallyport-challenge': '/.sallyport/pass',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
  vary: 'Cookie',
}

t.test('a page is for who looks at it, and JSON for everybody else', async (t) => {
  const { ask, seen } = await openAskingSite(t)
  for (const [name, headers] of Object.entries(PAGES)) {
    const { status, headers: got, body } = await ask('/', headers)
    t.same([status, got['content-type']], [403, 'text/html; charset=utf-8'], name)
    t.match(body, '<h1', name)
  }
  for (const [name, headers] of Object.entries(PROGRAMS)) {
    const { status, headers: got, body } = await ask('/', headers)
    t.equal(status, 403, name)
    t.match(got, JSON_FIELDS, name)
    t.equal(JSON.parse(body).error, 'challenge_required', name)
    t.notOk(got['set-cookie'], `${name} leaves the questions of windows alone`)
  }
  const head = await ask('/', NAVIGATION, 'HEAD')
  t.same([head.status, head.body, head.headers['set-cookie']?.length], [403, '', 1])
  t.same(seen, [])
})
