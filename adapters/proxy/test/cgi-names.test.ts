import t, { type Test } from 'tap'
import { openProxy } from '../src/index.ts'
import { cgiOrigin, NO_FPM, NO_LIGHTTPD, phpOrigin, spellings } from './programs.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { exchange, get } from './wire.ts'

/*
 * Servers hand a field to a CGI or FastCGI program as a variable, in which all but letters and digits are `_`: many names
 * of a client then are one name of ours. Asked of a real lighttpd with a CGI program, and of PHP-FPM behind it.
 */
/** Names that an origin takes for what a proxy says of the client. */
const OURS = ['Sallyport-Action', 'Sallyport-Network-Class', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host']
const NONE = ['X-Real-IP', 'Client-IP', 'X-Original-URL', 'Proxy']
const FORGED = 'forged'

/** The variables of a program behind the proxy that do not come from us, for every spelling of every name. */
async function forged(t: Test, upstream: string, path: string): Promise<readonly string[]> {
  const proxy = await openProxy(fakeSallyport(), {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    upstream,
    timeouts: { drain: 0 },
  })
  t.teardown(() => proxy.close())
  const wrong: string[] = []
  for (const name of [...OURS, ...NONE]) {
    for (const spelling of spellings(name)) {
      // A trusted peer's word is read from the one header; the proto and the host it may say are not forged.
      const fields = [`X-Forwarded-For: ${VISITOR.flagged}`, `${spelling}: ${FORGED}`]
      const answer = await exchange(proxy.url, get(path, ...(name === 'X-Forwarded-For' ? fields.slice(1) : fields)))
      const variables = answer.split('\n').filter((line) => line.startsWith('HTTP_'))
      const ours = variables.some((line) => line.startsWith('HTTP_SALLYPORT_ACTION='))
      const bad = variables.filter((line) => line.includes(FORGED))
      if (!ours || bad.length > 0) wrong.push(`${spelling}: ${bad.join(' ') || answer.slice(0, 60)}`)
    }
  }
  return wrong
}

t.test('a CGI program of lighttpd sees no name of ours that a client sent', { skip: NO_LIGHTTPD }, async (t) => {
  t.same(await forged(t, await cgiOrigin(t), '/show.cgi'), [])
})

t.test('a script of PHP-FPM sees no name of ours that a client sent', { skip: NO_LIGHTTPD || NO_FPM }, async (t) => {
  t.same(await forged(t, await phpOrigin(t), '/show.php'), [])
})
