import t from 'tap'
import { passScript } from '../src/challenge/pass-script.ts'
import { type Answer, FIREFOX, NAVIGATION, openAskingSite, readCookie, solveDetails } from './asking.ts'

/* The gate as applications use it: the challenge in JSON, the script, and the page on purpose. */
const FETCH = { 'user-agent': FIREFOX, accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const readDetails = ({ body }: Answer) => JSON.parse(body).details

t.test('JSON carries the challenge, each one its own', async (t) => {
  const { ask, clock } = await openAskingSite(t)
  const [one, other] = [await ask('/puzzle', FETCH), await ask('/puzzle', FETCH)]
  const details = readDetails(one)
  t.match(details, { puzzles: 32, bits: 10, wait: 8, level: 2, pass: '/.sallyport/pass', requestId: /./ })
  t.match(details.challenge, /^[\w-]{96}$/)
  t.not(details.challenge, readDetails(other).challenge)
  const solution = { ...FETCH, 'sallyport-solution': solveDetails(details) }
  const given = await ask(details.pass, solution, 'POST')
  t.equal(given.status, 204)
  t.equal((await ask('/puzzle', { ...FETCH, cookie: readCookie(given) })).body, 'hello')
  const plain = readDetails(await ask('/', FETCH))
  t.match(plain, { puzzles: 0, wait: 1, level: 1 })
  clock.advance(1_000)
  t.equal((await ask(plain.pass, { ...FETCH, 'sallyport-solution': `${plain.challenge}.` }, 'POST')).status, 204)
  t.match(readDetails(await ask('/script', FETCH)), { puzzles: 32, wait: 0, level: 2 })
})

t.test('pass.js is small, sent without a pass, and kept by browsers', async (t) => {
  const { ask, seen } = await openAskingSite(t, { challenge: { path: '/gate' } })
  const packed = await ask('/gate/pass.js', { ...FETCH, 'accept-encoding': 'gzip, br' }, 'HEAD')
  t.match(packed.headers, { 'content-encoding': 'gzip', 'content-type': /javascript/, vary: /Accept-Encoding/ })
  t.ok(Number(packed.headers['content-length']) < 3_072, `${packed.headers['content-length']} bytes`)
  const plain = await ask('/gate/pass.js', FETCH)
  t.equal(plain.body, passScript('/gate'))
  t.match(plain.body, '"/gate/pass"')
  t.doesNotThrow(() => new Function(plain.body))
  const known = await ask('/gate/pass.js', { ...FETCH, 'if-none-match': String(plain.headers.etag) })
  t.same([known.status, known.body], [304, ''])
  t.same(seen, [])
  t.notMatch((await ask('/gate/pass.js', FETCH, 'POST')).body, 'findNumbers')
})

t.test('the page is shown on purpose, for the path that it returns to, and leads there with a pass', async (t) => {
  const { ask } = await openAskingSite(t)
  const page = await ask('/.sallyport/pass?to=/puzzle%3Fa=1')
  t.match(page, { status: 403, body: /data-puzzles="32"/ })
  t.match(page.body, 'content="8;url=?to=/puzzle%3Fa=1&amp;sallyport-again=1"')
  const details = readDetails(await ask('/.sallyport/pass?to=/puzzle', FETCH))
  t.equal(details.level, 2, 'a script gets the challenge')
  t.equal(readDetails(await ask('/.sallyport/pass', FETCH)).level, 1, 'of the root where no path is given')
  const given = await ask('/.sallyport/pass', { ...FETCH, 'sallyport-solution': solveDetails(details) }, 'POST')
  const cookie = readCookie(given)
  const back = await ask('/.sallyport/pass?to=/puzzle%3Fa=1', { ...NAVIGATION, cookie })
  t.match(back, { status: 303, headers: { location: '/puzzle?a=1', 'cache-control': 'no-store' } })
  t.match(await ask('/.sallyport/pass?to=/puzzle', { ...FETCH, cookie }), {
    status: 204,
    headers: { 'sallyport-pass': '2' },
  })
  t.match(await ask('/.sallyport/pass?to=/open', FETCH), { status: 204, headers: { 'sallyport-pass': 'none' } })
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
  for (const bad of [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    'javascript:alert(1)',
    'evil',
    '/a//evil.example',
    '/.//evil.example',
    '/.sallyport/pass?to=/',
    '/a\r\nset-cookie: x=1',
    `/${'a'.repeat(3_000)}`,
    '',
  ]) {
    t.equal(await to(bad), '/', JSON.stringify(bad))
  }
  t.equal(await to('/a b/ü?x=1&y=/%2f#there'), '/a%20b/%C3%BC?x=1&y=/%2f')
  t.equal(await to('/a?next=//x'), '/a?next=//x')
})
