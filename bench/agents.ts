import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { detectBot } from '@arcjet/analyze'
import {
  createCatalogue,
  createKeyDirectories,
  createReplayMemory,
  createSignatureVerifier,
  createSigner,
  type InspectionRequest,
  keySourceOf,
} from '@sallyport/core'
import { open } from '@sallyport/open'
import samples from 'crawler-user-agents'
import { isbot } from 'isbot'
import { counted, type Figure, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { quantile } from './report/statistics.ts'

const SHARED = process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../shared/data')

/** Agents: how right it is beside two peers, and what a signature takes. */
export async function benchAgents(run: Run): Promise<void> {
  await benchRecall(run)
  await benchSignatures(run)
}

/** How many of each list are taken for programs: by user agent alone, which is all that the peers look at here. */
async function benchRecall(run: Run): Promise<void> {
  const sallyport = await open({ data: { refresh: false } })
  const judges: readonly (readonly [name: string, isBot: (text: string) => boolean | Promise<boolean>])[] = [
    [
      'Sallyport',
      (text) => sallyport.inspect(visit('8.8.8.8', ['User-Agent', text, ...ORDINARY])).agent.class !== 'human',
    ],
    ['`isbot`', (text) => isbot(text)],
    ["Arcjet's local rules", isArcjetBot],
  ]
  const crawlers = samples.flatMap(({ instances }) => instances)
  const some = (texts: readonly string[]) => texts.slice(0, run.pick(texts.length, 50))
  const lists = { crawlers: some(crawlers), browsers: some(browsers()) }
  if (lists.browsers.length === 0) run.skip('user agents of browsers, whose list is not here')
  const figures: Figure[] = []
  for (const [name, isBot] of judges) {
    for (const [list, texts] of Object.entries(lists)) {
      if (texts.length === 0) continue
      run.step(`${name}, ${list}`)
      let bots = 0
      for (const text of texts) if (await isBot(text)) bots++
      const better = list === 'crawlers' ? ({ better: 'more' } as const) : {}
      const what = `of ${texts.length.toLocaleString('en')} ${list}`
      figures.push({ case: name, what, unit: '%', value: counted((100 * bots) / texts.length), ...better })
    }
  }
  run.table({ title: 'Taken for a program, by user agent', figures })
  await sallyport.close()
}

const ORDINARY = ['Accept', 'text/html,*/*;q=0.8', 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate']

function browsers(): readonly string[] {
  const file = join(SHARED, 'user-agents/browsers.txt.gz')
  return existsSync(file) ? gunzipSync(readFileSync(file)).toString().trim().split('\n') : []
}

const QUIET = { debug() {}, info() {}, warn() {}, error() {}, time() {}, timeEnd() {} }

/** Every bot is denied and none is allowed, so that whatever it knows as one shows. */
async function isArcjetBot(text: string): Promise<boolean> {
  const request = { ip: '8.8.8.8', headers: { 'user-agent': text } }
  const { denied } = await detectBot({ log: QUIET as never, characteristics: [] }, request, {
    tag: 'allowed-bot-config',
    val: { entities: [], skipCustomDetect: true },
  })
  return denied.length > 0
}

function visit(peer: string, fields: readonly string[]): InspectionRequest {
  const head = ['Host', 'example.com', ...fields]
  return {
    peer,
    method: 'GET',
    target: '/articles/2026/the-gate?a=b',
    scheme: 'http',
    httpVersion: '1.1',
    fields: head,
  }
}

async function benchSignatures(run: Run): Promise<void> {
  const clock = { now: () => Date.now() }
  const directories = createKeyDirectories({ clock })
  const signer = createSigner(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  const source = keySourceOf({ uri: 'https://chatgpt.com', type: 'directory' }, new Set())
  if (source !== undefined) directories.put(source, signer.directory)
  const verifier = createSignatureVerifier({
    clock,
    catalogue: createCatalogue(),
    directories,
    replay: createReplayMemory(),
  })
  const unsigned = ['Host', 'example.com', 'Signature-Agent', '"https://chatgpt.com"']
  const requests = Array.from({ length: 2000 }, (_, at) => {
    const request = { fields: unsigned, method: 'GET', target: '/', scheme: 'https' } as const
    const created = Math.floor(Date.now() / 1000)
    const components = '"@authority" "@method" "@path" "signature-agent"'
    const signed = signer.sign({ request, label: 'sig1', components, created, expires: created + 300, nonce: `${at}` })
    return { ...request, fields: [...unsigned, ...signed] }
  })
  const times: number[] = []
  requests.forEach((request, at) => {
    const start = performance.now()
    const finding = verifier.look(request)
    const elapsed = performance.now() - start
    if (finding?.outcome !== 'verified') throw new Error(finding?.detail ?? 'no signature')
    if (at >= 500) times.push(elapsed * 1000)
  })
  const of = (share: number) => spreadOf(chunks(times, 6).map((part) => quantile(part, share)))
  const one = { case: 'verified', unit: 'µs' }
  run.table({
    title: 'One Ed25519 signature, its key in memory',
    figures: [
      { ...one, what: 'median', value: of(0.5), goal: { atMost: 150 } },
      { ...one, what: 'p90', value: of(0.9) },
    ],
  })
}

function chunks(times: readonly number[], count: number): readonly (readonly number[])[] {
  const size = Math.ceil(times.length / count)
  return Array.from({ length: count }, (_, at) => times.slice(at * size, (at + 1) * size))
}
