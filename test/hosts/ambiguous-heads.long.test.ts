import t from 'tap'
import { HOSTS } from './hosts.ts'
import { madeScene } from './scene.ts'
import { exchange, parseResponse } from './wire.ts'

/** Heads that servers read in two ways, as the first lines of a request. */
const HEADS = [
  'Host: other.example',
  'User-Agent: a\r\nUser-Agent: b',
  'Authorization: a\r\nAuthorization: b',
  'Connection: sallyport-action',
  'Connection: keep-alive, Host',
].flatMap((fields) => ['/shop', '/v1/myip'].map((path) => `GET ${path} HTTP/1.1\r\nHost: site.example\r\n${fields}`))

const TARGETS = ['http://other.example/shop', 'http://site.example:81/shop', 'http://other.example/v1/myip']

/** A web request shows one field of a name, and one target. */
const SEEING = HOSTS.filter(({ hidesWire = false }) => !hidesWire)

for (const host of SEEING) {
  t.test(`${host.name} refuses what servers read in two ways, and ends the connection`, async (t) => {
    const site = await host.start(madeScene().enforcing, '')
    t.teardown(() => site.close())
    const wrong: string[] = []
    for (const head of [...HEADS, ...TARGETS.map((target) => `GET ${target} HTTP/1.1\r\nHost: site.example`)]) {
      const { status, headers, body } = parseResponse(await exchange(site.port, `${head}\r\n\r\n`))
      const said = status === 400 && headers['content-type'] === 'application/json; charset=utf-8'
      if (!said || !body.startsWith('{"error":"invalid_request"')) wrong.push(`${head}\n${status} ${body}`)
    }
    t.same(wrong, [])
  })
}
