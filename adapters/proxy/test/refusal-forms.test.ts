import t from 'tap'
import { proxyBefore } from './behind.ts'
import { VISITOR } from './sallyport.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

const ELINKS = 'User-Agent: ELinks/0.16.1.1 (textmode; Linux; 80x24-2)'
const CURL = 'User-Agent: curl/8.5.0'
const ANYTHING = 'Accept: */*'

const from = (address: string): string => `X-Forwarded-For: ${address}`
const isPage = (answer: string): boolean =>
  /\r\ncontent-type: text\/html; charset=utf-8\r\n[\s\S]*<!doctype html>/i.test(answer)
const isJson = (answer: string): boolean => /\r\ncontent-type: application\/json/i.test(answer)
const isText = (answer: string): boolean => /\r\ncontent-type: text\/plain; charset=utf-8\r\n/i.test(answer)

t.test('a browser of the terminal gets a page for every refusal, and a program JSON', async (t) => {
  const { url } = await proxyBefore(t, OK)
  const rows = [
    ['a target that is read in two ways', 400, '/a/%2e%2e/b', from(VISITOR.allowed)],
    ['a head that is', 400, '/', from(VISITOR.allowed), 'Authorization: a', 'Authorization: b'],
    ['a head with too many fields', 431, '/', from(VISITOR.allowed), ...Array.from({ length: 101 }, () => 'X: 1')],
  ] as const
  for (const [name, status, target, ...fields] of rows) {
    const page = await exchange(url, get(target, ELINKS, ANYTHING, ...fields))
    t.same([readStatus(page), isPage(page)], [status, true], name)
    const json = await exchange(url, get(target, CURL, ANYTHING, ...fields))
    t.same([readStatus(json), isJson(json)], [status, true], `${name}, to a program`)
    const text = await exchange(url, get(target, CURL, 'Accept: text/plain', ...fields))
    t.same([readStatus(text), isText(text)], [status, true], `${name}, to a program that asks for text`)
  }
})

t.test('an origin that is away is a page too, and the API has none', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  await origin.close().catch(() => {})
  const away = await exchange(url, get('/', ELINKS, ANYTHING, from(VISITOR.allowed)))
  t.same([readStatus(away), isPage(away)], [502, true])
  t.match(away, 'This site is not available right now.')
  const api = await exchange(url, get('/v1/a/%2e%2e/b', ELINKS, 'Accept: text/html', from(VISITOR.allowed)))
  t.notOk(isPage(api))
})

t.test('what the parser refuses is a page for a browser, whose fields are among the bytes', async (t) => {
  const { url } = await proxyBefore(t, OK)
  const cookies = `Cookie: a=${'b'.repeat(17_000)}`
  const page = await exchange(url, get('/', 'Accept: text/html,*/*;q=0.8', 'accept-language: de', cookies))
  t.same([readStatus(page), isPage(page)], [431, true])
  t.match(page, '<html lang="de" dir="ltr">')
  t.ok(isJson(await exchange(url, get('/', ANYTHING, cookies))))
  t.ok(isPage(await exchange(url, 'GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nBad Name: x\r\n\r\n')))
  t.ok(isJson(await exchange(url, 'nothing\r\n\r\n')))
})

t.test('an address that is too long is 414, and the page says what is too much', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  for (const length of [8_193, 12_000, 20_000, 100_000]) {
    const target = `/?q=${'a'.repeat(length - 4)}`
    const page = await exchange(url, get(target, 'Accept: text/html'))
    // The parser keeps no more of the head of a longer target.
    if (length < 65_536) t.match([readStatus(page), page], [414, /larger than this site accepts/], `${length}`)
    const json = await exchange(url, get(target, ANYTHING))
    t.match([readStatus(json), json], [414, /"message":"The address is longer than 8192 bytes\."/], `${length}`)
  }
  t.equal(readStatus(await exchange(url, get(`/?q=${'a'.repeat(8_188)}`))), 200)
  t.equal(origin.heads.length, 1)
})
