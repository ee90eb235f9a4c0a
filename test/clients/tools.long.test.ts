import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { digest, FILE, PACKED } from './origin.ts'
import { missing, run } from './programs.ts'
import { NO_OPENSSL, openSite } from './site.ts'

t.test('curl, over HTTP/1.1 and over TLS', { skip: missing('curl') || NO_OPENSSL }, async (t) => {
  const { home, url, secure, since, arrived } = await openSite(t)
  for (const [base, ...how] of [[url], [secure, '-k', '--http1.1'], [secure, '-k', '--http2']] as const) {
    const curl = (...args: readonly string[]) => run(home, 'curl', ['-sS', '--noproxy', '*', ...how, ...args])
    t.match((await curl(`${base}/page`)).out, 'grün, 日本', base)
    t.match((await curl('-L', '-w', '%{num_redirects}', `${base}/moved`)).out, /A page.*1$/s)
    t.equal((await curl('--compressed', `${base}/packed`)).out, PACKED)
    t.equal((await curl('-r', '100-199', '-w', '%{http_code}', `${base}/file`)).out, `${FILE.subarray(100, 200)}206`)
    t.equal((await curl('-r', '99990-', `${base}/file`)).out, String(FILE.subarray(99_990)))
    t.match((await curl('-I', `${base}/file`)).out, /content-length: 100000/i)
    since()

    // It asks to go on first (Expect: 100-continue) where it is over a megabyte.
    const large = 'large '.repeat(300_000)
    writeFileSync(join(home, 'large'), large)
    t.match((await curl('--data-binary', '@large', `${base}/form`)).out, `${digest(large)}</p>`)
    t.match((await curl('-T', 'large', `${base}/form`)).out, `PUT undefined ${digest(large)}`)
    t.same(since(), ['POST /form unverified_bot allow', 'PUT /form unverified_bot allow'])
    t.match((await curl('-F', 'file=@large', `${base}/form`)).out, 'POST multipart/form-data; boundary=')

    t.equal(JSON.parse((await curl(`${base}/blocked`)).out).error, 'request_blocked', 'a program gets JSON')
    t.match(
      (await curl('-H', 'Accept: text/plain', `${base}/blocked`)).out,
      /^Access denied\. This site has blocked your request\.\n/,
    )
    t.equal((await curl('-f', `${base}/blocked`)).code, 22)
  }
  t.equal(arrived.filter(({ target }) => target === '/blocked').length, 0)
})
