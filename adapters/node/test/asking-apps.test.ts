import t from 'tap'
import { CHALLENGE_TEXTS } from '../src/challenge/page-texts.ts'
import { type Answer, FIREFOX, NAVIGATION, openAskingSite, readCookie, readData, solveDetails } from './asking.ts'

/* The gate as applications use it: the challenge in JSON, the script, and the page on purpose. */
const FETCH = { 'user-agent': FIREFOX, accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const readDetails = ({ body }: Answer) => JSON.parse(body).details

t.test('pass.js is small, for its own path, and no page is sent where it is requested by POST', async (t) => {
  const { ask, seen } = await openAskingSite(t, { challenge: { path: '/gate' } })
  const packed = await ask('/gate/pass.js', { ...FETCH, 'accept-encoding': 'gzip, br' }, 'HEAD')
  t.match(packed.headers, { 'content-encoding': 'gzip', vary: /Accept-Encoding/ })
  t.ok(Number(packed.headers['content-length']) < 3_072, `${packed.headers['content-length']} bytes`)
  const plain = await ask('/gate/pass.js', FETCH)
  t.match(plain.body, '"/gate/pass"')
  t.doesNotThrow(() => new Function(plain.body))
  const known = await ask('/gate/pass.js', { ...FETCH, 'if-none-match': String(plain.headers.etag) })
  t.same([known.status, known.body], [304, ''], 'a browser keeps it')
  t.same(seen, [])
  t.notMatch((await ask('/gate/pass.js', FETCH, 'POST')).body, 'findNumbers')
})

t.test('the page is shown on purpose, for the path that it returns to, and leads there with a pass', async (t) => {
  const { ask, clock } = await openAskingSite(t)
  const page = await ask('/.sallyport/pass?to=/puzzle%3Fa=1')
  t.match(page.body, 'content="8;url=?to=/puzzle%3Fa=1&amp;sallyport-again=1"')
  const plain = readDetails(await ask('/.sallyport/pass', FETCH))
  t.match(plain, { puzzles: 0, wait: 1, level: 1 }, 'of the root where no path is given')
  clock.advance(1_000)
  t.equal((await ask(plain.pass, { ...FETCH, 'sallyport-solution': `${plain.challenge}.` }, 'POST')).status, 204)
  const details = readDetails(await ask('/.sallyport/pass?to=/puzzle', FETCH))
  t.equal(details.level, 2, 'a script gets the challenge')
  const given = await ask('/.sallyport/pass', { ...FETCH, 'sallyport-solution': solveDetails(details) }, 'POST')
  const cookie = readCookie(given)
  const held = await ask('/.sallyport/pass?to=/puzzle', { ...FETCH, cookie })
  t.match(held, { status: 204, headers: { 'sallyport-pass': '2' } })
  const shell = '/.sallyport/pass?to=/open&for=/puzzle'
  t.match(await ask(shell), { status: 403, body: /data-puzzles="32"/ }, 'for a path that the returned page requests')
  t.match(await ask(shell, { ...NAVIGATION, cookie }), { status: 303, headers: { location: '/open' } })
  t.match(await ask('/.sallyport/pass?to=/closed'), { status: 403, body: /<h1/ })
  t.equal((await ask('/.sallyport/pass?to=/closed', { ...NAVIGATION, cookie })).headers.location, undefined)
})

t.test('it leads to paths of this site and nowhere else', async (t) => {
  const { ask } = await openAskingSite(t)
  const details = readDetails(await ask('/puzzle', FETCH))
  const given = await ask('/.sallyport/pass', { ...FETCH, 'sallyport-solution': solveDetails(details) }, 'POST')
  const headers = { ...NAVIGATION, cookie: readCookie(given) }
  const to = async (text: string) =>
    (await ask(`/.sallyport/pass?to=${encodeURIComponent(text)}`, headers)).headers.location
  const places = String.raw`https://evil.example/ //evil.example/ /\evil.example \\evil.example evil /a//evil.example
    /.//evil.example javascript:alert(1) /.sallyport/pass?to=/`.split(/\s+/)
  const marks = ['/\t/evil.example', '/\n/evil.example', '\t//evil.example', ' //evil.example', '/a\r\nset-cookie: x=1']
  for (const bad of [...places, ...marks, `/${'a'.repeat(3_000)}`, '']) {
    t.equal(await to(bad), '/', JSON.stringify(bad))
  }
  t.equal(await to('/a b/ü?x=1&y=/%2f#there'), '/a%20b/%C3%BC?x=1&y=/%2f')
  t.equal(await to('/a?next=//x'), '/a?next=//x')
})

/* A form that is challenged: its page earns the pass, and leads back to the page that has the form. */
const FROM = { ...NAVIGATION, referer: 'http://shop.example/form?a="1"' }

t.test('without script the link, or the form sent once more, earns it after the wait', async (t) => {
  const { ask, clock } = await openAskingSite(t)
  const page = await ask('/puzzle', FROM, 'POST')
  t.match(page.body, 'href="/.sallyport/pass?to=%2Fform%3Fa%3D%25221%2522">Back to the form</a>')
  t.equal(readData(page, 'done'), CHALLENGE_TEXTS['en']?.formDone)
  t.notMatch(page.body, 'http-equiv="refresh"', 'a page that says what to do is not taken away')
  const cookie = readCookie(page)
  const link = '/.sallyport/pass?to=%2Fopen'
  const early = await ask(link, { ...NAVIGATION, cookie })
  t.match(early, { status: 403, body: /http-equiv="refresh" content="8;url=\?to=%2Fopen&amp;sallyport-again=1"/ })
  clock.advance(8_000)
  const back = await ask(`${link}&sallyport-again=1`, { ...NAVIGATION, cookie })
  t.match(back, { status: 303, headers: { location: '/open' } })
  t.equal((await ask('/puzzle', { ...FROM, cookie: readCookie(back) }, 'POST')).body, 'hello')
  const other = await ask('/puzzle', FROM, 'POST')
  clock.advance(8_000)
  const sent = await ask('/puzzle', { ...FROM, cookie: readCookie(other) }, 'POST')
  t.match(sent, { status: 403, body: /role="status">Done\. Go back and send the form again\.</ })
  t.match(sent.body, '<a href="/form?a=%221%22">')
  t.equal((await ask('/puzzle', { ...FROM, cookie: readCookie(sent) }, 'POST')).body, 'hello')
})

t.test('at level 1 the script waits, and a form of another site leads to the root', async (t) => {
  const { ask, clock } = await openAskingSite(t)
  for (const referer of ['http://evil.example/form', 'nothing', 'http://shop.example//evil.example/', undefined]) {
    const page = await ask('/send', { ...NAVIGATION, ...(referer && { referer }) }, 'POST')
    t.equal(readData(page, 'back'), '/', String(referer))
    t.match(page.body, '<script>')
    const solution = { ...NAVIGATION, 'sallyport-solution': `${readData(page, 'challenge')}.` }
    t.match((await ask('/.sallyport/pass', solution, 'POST')).body, '"early"')
    clock.advance(1_000)
    t.equal((await ask('/.sallyport/pass', solution, 'POST')).status, 204)
  }
})
