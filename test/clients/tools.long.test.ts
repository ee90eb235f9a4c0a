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
      /^Access denied\. This site has refused the request\.\n/,
    )
    t.equal((await curl('-f', `${base}/blocked`)).code, 22)
  }
  t.equal(arrived.filter(({ target }) => target === '/blocked').length, 0)
})

const PYTHON = `
import hashlib, sys, urllib.error, urllib.request
base = sys.argv[1]
urllib.request.install_opener(urllib.request.build_opener(urllib.request.ProxyHandler({})))
def ask(path, data=None, **headers):
    request = urllib.request.Request(base + path, data, {name.replace('_', '-'): value for name, value in headers.items()})
    try:
        answer = urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        answer = error
    body = answer.read()
    print(answer.status, answer.url[len(base):], len(body), hashlib.sha256(body).hexdigest()[:16])
ask('/moved')
ask('/packed')
ask('/file', Range='bytes=100-199')
ask('/form', b'word=x' * 1000)
ask('/blocked')
`

t.test("Python's urllib", { skip: missing('python3') || NO_OPENSSL }, async (t) => {
  const { home, url, since } = await openSite(t)
  const { out, err } = await run(home, 'python3', ['-', url], PYTHON)
  t.equal(err, '')
  const rows = out.trim().split('\n')
  t.match(rows[0], /^200 \/page /)
  t.same(rows.slice(1, 3), [`200 /packed ${digest(PACKED)}`, `206 /file ${digest(FILE.subarray(100, 200))}`])
  t.match(rows[3], /^200 \/form /)
  t.match(rows[4], /^403 \/blocked /)
  t.same(since(), [
    'GET /moved unverified_bot allow',
    'GET /page unverified_bot allow',
    'GET /packed unverified_bot allow',
    'GET /file unverified_bot allow',
    'POST /form unverified_bot allow',
    'GET /blocked unverified_bot block',
  ])
})

/** Java's own client asks every server of http for HTTP/2 first, by `Upgrade: h2c` (RFC 7540 3.2). */
const JAVA = `
import java.net.URI;
import java.net.http.*;
import java.security.MessageDigest;
import java.util.HexFormat;

public class Client {
  static HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
  static void ask(HttpRequest.Builder request) throws Exception {
    HttpResponse<byte[]> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    String sha = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(answer.body()));
    System.out.println(answer.statusCode() + " " + answer.uri().getPath() + " " + answer.body().length + " " + sha.substring(0, 16));
  }
  static HttpRequest.Builder to(String url) { return HttpRequest.newBuilder(URI.create(url)); }
  public static void main(String[] args) throws Exception {
    String base = args[0];
    ask(to(base + "/moved"));
    ask(to(base + "/packed").header("Accept-Encoding", "identity"));
    ask(to(base + "/file").header("Range", "bytes=100-199"));
    ask(to(base + "/form").POST(HttpRequest.BodyPublishers.ofString("word=x".repeat(1000))));
    ask(to(base + "/blocked"));
  }
}
`

t.test("Java's HttpClient", { skip: missing('javac', '-version') || NO_OPENSSL }, async (t) => {
  const { home, url, since } = await openSite(t)
  writeFileSync(join(home, 'Client.java'), JAVA)
  const { out, err } = await run(home, 'java', ['Client.java', url])
  t.equal(err, '')
  const rows = out.trim().split('\n')
  t.match(rows[0], /^200 \/page /)
  t.same(rows.slice(1, 3), [`200 /packed ${digest(PACKED)}`, `206 /file ${digest(FILE.subarray(100, 200))}`])
  t.match(rows[3], /^200 \/form /)
  t.match(rows[4], /^403 \/blocked /)
  t.equal(since().length, 6)
})
