import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { startOrigin } from '../hosts/proxy.ts'
import { BIN, makeFolder, started } from '../started.ts'
import { readFences } from './fences.ts'
import { shell } from './shell.ts'

/* The page about scrapers is followed step by step, as it is written: only ports and folders are the test's own. */

const FENCES = readFences(['packages/sallyport/docs/scrapers.md'])
const PYTHON = 'python-requests/2.32.3'
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'

/** Writes the log of a common server: a scraper on a server, another on a home line that reads deep pages, and a person. */
function accessLog(): string {
  const line = (address: string, at: number, path: string, agent: string): string => {
    const time = new Date(Date.UTC(2026, 10, 26, 10, 0, at / 3)).toISOString().slice(11, 19)
    return `${address} - - [26/Nov/2026:${time} +0000] "GET ${path} HTTP/1.1" 200 512 "-" "${agent}"`
  }
  const lines = Array.from({ length: 300 }, (_, at) => [
    line('5.9.10.20', at, `/list?page=${at}`, PYTHON),
    line('73.162.10.21', at, `/list?page=${at + 100}`, PYTHON),
    ...(at % 10 === 0 ? [line('73.162.10.20', at, '/', BROWSER)] : []),
  ])
  return `${lines.flat().join('\n')}\n`
}

interface Place {
  readonly folder: string
  readonly url: string
  readonly env: Readonly<Record<string, string>>
}

/** Sends the gate traffic like the log's. */
async function sendTraffic({ url }: Place): Promise<void> {
  for (let at = 0; at < 20; at++) {
    for (const address of ['5.9.10.20', '73.162.10.21']) {
      const headers = { 'x-forwarded-for': address, 'user-agent': PYTHON }
      await (await fetch(`${url}/list?page=${at}`, { headers })).text()
    }
  }
}

async function preparePlace(t: Test): Promise<Place> {
  const folder = makeFolder(t)
  writeFileSync(join(folder, 'access.log'), accessLog())
  const upstream = await startOrigin(t, (_, response) => response.end('a page'))
  const [port, admin] = [await freePort(), await freePort()]
  const env = {
    SALLYPORT_LISTEN: `127.0.0.1:${port}`,
    SALLYPORT_ADMIN: `127.0.0.1:${admin}`,
    SALLYPORT_UPSTREAM: upstream,
    SALLYPORT_DATA_DIR: DATA_DIR,
    SALLYPORT_DATA_REFRESH: 'false',
    SALLYPORT_DNS_SERVERS: '127.0.0.1:9',
    NO_COLOR: '1',
  }
  return { folder, env, url: `http://127.0.0.1:${port}` }
}

/** Texts that each block of commands must show, in the order of the page; the proxy runs from the second on. */
const CLASSES = /^class +requests +allow +flag +throttle +block$/m
const SHOWN: readonly (readonly RegExp[])[] = [
  [CLASSES, /^unverified_bot +600 +0 +\d+ +\d{3} +300$/m, /^human +30 +30 /m],
  [/^The configuration is valid\.$/m, /notice: \S+: policy: these rules only flag/],
  [/server-libraries/, /python-requests|unverified_bot/],
  [/^3 expectations met$/m, /^unverified_bot /m],
  [/^$/],
  [/200 403 /, /server-libraries/],
]

t.test('the page, from the first line of the log to the proof', async (t) => {
  const place = await preparePlace(t)
  let blocks = 0
  let proxy: Awaited<ReturnType<typeof started>> | undefined
  for (const { language, text } of FENCES) {
    const [, name] = /^# (\S+\.yaml)\n/.exec(text) ?? []
    const reloads = proxy?.err().split('configuration').length
    if (language === 'yaml') {
      writeFileSync(join(place.folder, name ?? ''), text)
    } else if (text === 'npx sallyport proxy\n') {
      const config = join(place.folder, 'sallyport.yaml')
      const log = { SALLYPORT_LOG_FILE: join(place.folder, 'decisions.log') }
      proxy = await started(t, [BIN, 'proxy', '--config', config], { ...place.env, ...log }, 'Listening on')
      t.match(proxy.err(), /^notice: policy: these rules only flag/m)
      await sendTraffic(place)
    } else {
      // The proxy writes its counts every five seconds, and a reader of the page comes later.
      const isLate = text.includes('sallyport report')
      const wait = isLate ? 'until sallyport report > /dev/null 2>&1; do sleep 1; done\n' : ''
      const block = `exec 2>&1\n${wait}${text}`.replaceAll('http://127.0.0.1:8080', place.url)
      const shown = await shell(t, block, place.env, place.folder)
      for (const pattern of SHOWN[blocks++] ?? [/^$/]) t.match(shown, pattern, text)
    }
    if (reloads === undefined || (name !== 'sallyport.yaml' && !text.startsWith('sed '))) continue
    while (proxy?.err().split('configuration').length === reloads) await new Promise((done) => setTimeout(done, 50))
    await sendTraffic(place)
  }
  t.equal(blocks, SHOWN.length)
})
