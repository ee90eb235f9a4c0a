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

for (const host of HOSTS) {
  t.test(`${host.name} takes the URL of its own site for the path of it`, async (t) => {
    const site = await host.start(madeScene().enforcing, '')
    t.teardown(() => site.close())
    const ask = async (target: string, named = 'site.example', more = '') => {
      const head = `GET ${target} HTTP/1.1\r\nHost: ${named}\r\n${more}Connection: close`
      return parseResponse(await exchange(site.port, `${head}\r\n\r\n`)).status
    }
    const blocked = `X-Forwarded-For: ${madeScene().blocked.address}\r\n`
    const found = [
      await ask('http://site.example/shop'),
      await ask('http://SITE.example:80/shop?x=http://other.example/', 'site.example'),
      await ask('http://site.example', 'site.EXAMPLE:80'),
      await ask('https://site.example/shop', 'site.example:443'),
      await ask('http://site.example/v1/myip'),
      await ask('http://site.example/shop', 'site.example', blocked),
    ]
    t.same(found, [200, 200, 200, 200, 200, 403])
  })
}
