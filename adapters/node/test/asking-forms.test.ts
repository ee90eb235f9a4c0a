import t from 'tap'
import { CHALLENGE_TEXTS } from '../src/challenge/page-texts.ts'
import { NAVIGATION, openAskingSite, readCookie, readData, solve } from './asking.ts'

/* A form that is challenged: its page earns the pass, and leads back to the page that has the form. */
const FROM = { ...NAVIGATION, referer: 'http://shop.example/form?a="1"' }

t.test('the page of a form says that nothing was sent, and earns the pass by work', async (t) => {
  const { ask, seen } = await openAskingSite(t)
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const page = await ask('/puzzle', FROM, method)
    t.equal(page.status, 403)
    t.match(page.body, '<h1 id="title" dir="auto">Your form was not sent.</h1>')
    t.match(page.body, 'href="/.sallyport/pass?to=%2Fform%3Fa%3D%25221%2522">Back to the form</a>')
    t.same([readData(page, 'back'), readData(page, 'done')], ['/form?a=%221%22', CHALLENGE_TEXTS['en']?.formDone])
    t.notMatch(page.body, 'http-equiv="refresh"', 'a page that says what to do is not taken away')
    const given = await ask('/.sallyport/pass', { ...NAVIGATION, 'sallyport-solution': solve(page) }, 'POST')
    t.equal(given.status, 204)
    t.equal((await ask('/puzzle', { ...FROM, cookie: readCookie(given) }, method)).body, 'hello')
  }
  t.same(seen, ['/puzzle', '/puzzle', '/puzzle'])
})

t.test('without script the link, or the form sent once more, earns it after the wait', async (t) => {
  const { ask, clock } = await openAskingSite(t)
  const page = await ask('/puzzle', FROM, 'POST')
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
