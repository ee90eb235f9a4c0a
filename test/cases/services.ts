import { parse } from 'yaml'
import { type Judge, type Outcome, readRows, short } from './case.ts'
import { type Product, requestBytes } from './product.ts'

/** `policy test --json` writes one such line per test. */
interface Tested {
  readonly name: string
  readonly passed: boolean
  readonly wrong: readonly string[]
}

/** A file for `policy test`; its first comment may say with which `trustProxy` it is run. */
export const policyTests: Judge = {
  takes: ({ name, text }) => name.endsWith('.yaml') && /^tests:/m.test(text),
  async judge(file, product) {
    const [, trusted = ''] = /^#.*\btrustProxy: \[([^\]]*)\]/m.exec(file.text) ?? []
    const trustProxy = trusted === '' ? [] : trusted.split(',').map((name) => name.trim())
    const config = product.write('policy-test.yaml', product.config({ trustProxy, net: { outbound: false } }))
    const { out, err } = await product.run('policy', 'test', file.path, '--json', '--config', config)
    if (!out.startsWith('[')) return [{ input: file.name, expected: 'outcomes', came: short(err), ok: false }]
    const { tests } = parse(file.text) as { readonly tests: readonly { readonly expect: object }[] }
    return (JSON.parse(out) as readonly Tested[]).map(({ name, passed, wrong }, at) => ({
      input: `${file.name}: ${short(name, 40)}`,
      expected: JSON.stringify(tests[at]?.expect ?? {}),
      came: passed ? 'as expected' : wrong.join('; '),
      ok: passed,
    }))
  },
}

const NAVIGATION = [
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'en-US,en;q=0.9'],
  ['Accept-Encoding', 'gzip, deflate, br, zstd'],
  ['Upgrade-Insecure-Requests', '1'],
  ['Sec-Fetch-Dest', 'document'],
  ['Sec-Fetch-Mode', 'navigate'],
  ['Sec-Fetch-Site', 'none'],
] as const

/** Lines of an address, a user agent and a path; those below `# control: still challenged` are challenged, the others are not. */
export const applicationLines: Judge = {
  takes: ({ name, text }) => name.endsWith('.txt') && /^# address\tuser agent\tpath/.test(text),
  async judge(file, product) {
    const [, preset = ''] = /preset ([a-z-]+)/.exec(file.text) ?? []
    const outcomes: Outcome[] = []
    let isControl = false
    for (const [address = '', userAgent, about = ''] of readRows(file.text)) {
      if (userAgent === undefined || address.startsWith('#')) {
        isControl ||= /control: still challenged/.test(address)
        continue
      }
      const [path = '/'] = about.split(' ')
      const fields = about.includes('navigation') ? NAVIGATION : [['Accept', '*/*'] as const]
      const { decision } = await askLine(product, preset, address, path, [['User-Agent', userAgent], ...fields])
      outcomes.push({
        input: `${file.name}: ${short(userAgent, 40)}`,
        expected: isControl ? 'challenge' : 'no refusal',
        came: decision?.action ?? 'not decided',
        ok: decision !== undefined && (decision.action === 'challenge') === isControl && decision.action !== 'block',
      })
    }
    return outcomes
  },
}

const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

/** A request in words, `a navigation of Safari`, from an address; `expected` has a provider, or an action that is enough. */
export const wordedRequest: Judge = {
  takes: ({ name, text }) => name.endsWith('.json') && /"request": "a navigation of Safari/.test(text),
  async judge(file, product) {
    const { config, client, expected } = JSON.parse(file.text) as Readonly<Record<string, string>>
    const [, preset = ''] = /preset: ([a-z-]+)/.exec(config ?? '') ?? []
    const [, provider = ''] = /provider ([^,]+)/.exec(expected ?? '') ?? []
    const [, action = ''] = /: ([a-z]+)\./.exec(expected ?? '') ?? []
    const [address = ''] = (client ?? '').split(' ')
    const { decision } = await askLine(product, preset, address, '/', [['User-Agent', SAFARI], ...NAVIGATION])
    const found = decision?.inspection.network.provider
    return [
      {
        input: file.name,
        expected: `provider ${provider}, or ${action}`,
        came: `${found === '' ? 'no provider' : found}, ${decision?.action}`,
        ok: found === provider || decision?.action === action,
      },
    ]
  },
}

async function askLine(
  product: Product,
  preset: string,
  address: string,
  path: string,
  fields: readonly (readonly [string, string])[],
) {
  const gate = await product.gate({ trustProxy: ['loopback'], policy: { preset: preset as 'observe' } })
  const proxied = [['X-Forwarded-For', address] as const, ['X-Forwarded-Proto', 'https'] as const]
  return gate.ask(requestBytes('GET', path, [...proxied, ...fields]))
}
