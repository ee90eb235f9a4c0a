import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { proxyBefore } from './behind.ts'
import { NO_NGINX, startNginx } from './front-programs.ts'
import { missing } from './programs.ts'

/* Programs of this machine, and a server in front, get the answer of an origin that sends hints before it. */

const PAGE = '<p>A page behind hints</p>'
const HINTED = [
  'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\nHTTP/1.1 200 OK',
  'Content-Type: text/html',
  `Content-Length: ${PAGE.length}`,
  '',
  PAGE,
].join('\r\n')

const run = promisify(execFile)

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  curl: ['-s'],
  wget: ['-qO-'],
  lynx: ['-dump'],
  w3m: ['-dump'],
  elinks: ['-dump'],
  python3: ['-c', 'import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read())'],
}

for (const [program, args] of Object.entries(PROGRAMS)) {
  t.test(program, { skip: missing(program) }, async (t) => {
    const { url } = await proxyBefore(t, HINTED)
    const { stdout } = await run(program, [...args, url], { timeout: 20_000 })
    t.match(stdout, 'A page behind hints')
  })
}

t.test('a browser behind nginx', { skip: NO_NGINX }, async (t) => {
  const { url, origin } = await proxyBefore(t, HINTED)
  const front = await startNginx(t, url)
  for (let turn = 0; turn < 3; turn++) {
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }
    const answer = await fetch(front, { headers, signal: AbortSignal.timeout(10_000) })
    t.equal(await answer.text(), PAGE)
  }
  t.equal(origin.heads.length, 3)
})
