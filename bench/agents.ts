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
import { type ConfigInput, open } from '@sallyport/open'
import samples from 'crawler-user-agents'
import { isbot } from 'isbot'
import { browserFields } from './browser.ts'
import { visitorAddresses } from './visitors.ts'

const SHARED = process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../shared/data')
const VISITS = 20_000
const REGULARS = 500
const ROUNDS = 6

type Rules = NonNullable<NonNullable<ConfigInput['policy']>['rules']>

/** Who asks: how right it is beside two peers, what a whole decision takes, and what a signature does. */
export async function benchAgents(): Promise<void> {
  await benchRecall()
  await benchDecision()
  await benchSignatures()
}

/** How many of each list are taken for programs: by user agent alone, which is all that the peers look at here. */
async function benchRecall(): Promise<void> {
  const sallyport = await open({ data: { refresh: false } })
  const judges: readonly (readonly [name: string, isBot: (text: string) => boolean | Promise<boolean>])[] = [
    [
      'sallyport',
      (text) => sallyport.inspect(visit('8.8.8.8', ['User-Agent', text, ...ORDINARY])).agent.class !== 'human',
    ],
    ['isbot', (text) => isbot(text)],
    ['@arcjet/analyze, local rules', isArcjetBot],
  ]
  const lists = { crawlers: samples.flatMap(({ instances }) => instances), browsers: browsers() }
  const rows: Record<string, Record<string, string>> = {}
  for (const [name, isBot] of judges) {
    const row: Record<string, string> = {}
    for (const [list, texts] of Object.entries(lists)) {
      let bots = 0
      for (const text of texts) if (await isBot(text)) bots++
      row[`of ${texts.length} ${list}`] =
        texts.length === 0 ? 'no list here' : `${((100 * bots) / texts.length).toFixed(2)} %`
    }
    rows[name] = row
  }
  console.log('\ntaken for a program, by user agent (with ordinary headers where they are looked at)')
  console.table(rows)
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

/** One decision at a time, so that the slow ones show: client address, network, user agent, headers, 50 rules. */
async function benchDecision(): Promise<void> {
  const sallyport = await open({ trustProxy: ['loopback'], policy: { rules: fiftyRules() }, data: { refresh: false } })
  const requests = visitorAddresses(VISITS).map((address): InspectionRequest => {
    const fields = browserFields(address)
    return { peer: '127.0.0.1', method: 'GET', target: '/a/b?c', scheme: 'http', httpVersion: '1.1', fields }
  })
  const timesOf = (visitors: number) => {
    const times: number[] = []
    for (let round = -2; round < ROUNDS; round++) {
      for (let at = 0; at < requests.length; at++) {
        const request = requests[at % visitors] as InspectionRequest
        const start = performance.now()
        sallyport.decide(request)
        const elapsed = performance.now() - start
        if (round >= 0) times.push(elapsed * 1000)
      }
    }
    return quantiles(times)
  }
  const rows = {
    [`decide(), ${VISITS} visitors`]: timesOf(VISITS),
    [`decide(), ${REGULARS} visitors, each again and again`]: timesOf(REGULARS),
  }
  console.log('\none decision with 50 rules, µs')
  console.table(rows)
  await sallyport.close()
}

/** Rules of all kinds, none of which matches, so that every one is asked. */
function fiftyRules(): Rules {
  return Array.from({ length: 50 }, (_, at): Rules[number] => {
    const matches: readonly Rules[number]['match'][] = [
      { path: [`/area${at}/**`], method: ['POST'] },
      { asn: [4_200_000_000 + at] },
      { networkClass: ['tor'], country: ['AQ'] },
      { class: ['impostor'], path: [`/x${at}`] },
      { header: { present: [`x-key-${at}`] } },
      { vendor: [`https://agent-${at}.example`] },
      { purpose: ['training'], operator: ['OpenAI'] },
    ]
    return { id: `rule-${at}`, match: matches[at % matches.length] ?? {}, action: 'block' }
  })
}

async function benchSignatures(): Promise<void> {
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
  console.log('\none Ed25519 signature with its key in memory, µs')
  console.table({ 'look()': quantiles(times) })
}

function quantiles(times: readonly number[]) {
  const sorted = times.toSorted((x, y) => x - y)
  const at = (share: number) => Number((sorted[Math.floor((sorted.length - 1) * share)] as number).toPrecision(3))
  return { median: at(0.5), p90: at(0.9), p99: at(0.99) }
}
