import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { parse } from 'yaml'
import { parseConfig } from '../../src/config/parse.ts'
import { Config } from '../../src/config/schema.ts'
import { configSchema } from '../../src/open/index.ts'

/* The schema of editors refuses nothing that is read; what it cannot say is listed here. */
const ROOT = join(import.meta.dirname, '../../../../..')
const validate = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false }).compile(configSchema())

interface Node {
  readonly description?: string | undefined
  readonly properties?: Readonly<Record<string, Node>> | undefined
  readonly additionalProperties?: Node | boolean | undefined
  readonly items?: Node | undefined
  readonly anyOf?: readonly Node[] | undefined
}

/** Lists every key with its node, keys within lists and maps too. */
function listKeys(node: Node, path = ''): readonly (readonly [key: string, node: Node])[] {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, inner]) => [
    [path + key, inner] as const,
    ...listKeys(inner, `${path}${key}.`),
  ])
  const further = typeof node.additionalProperties === 'object' ? listKeys(node.additionalProperties, `${path}*.`) : []
  return [...own, ...further, ...(node.items === undefined ? [] : listKeys(node.items, `${path}*.`))]
}

const KEYS = listKeys(configSchema() as Node)

t.test('a configuration that is read is accepted', async (t) => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => parse(text) as unknown)
  const written = [
    {},
    ...blocks.filter((block) => typeof block === 'object' && block !== null && !('tests' in block)),
    parse(readFileSync(join(ROOT, 'packages/sallyport/demo.yaml'), 'utf8')),
    { timeouts: { queue: '1.5s', drain: 3_000 }, store: 'sqlite:x', redis: 'rediss://cache' },
  ]
  t.ok(written.length > 3)
  const wrong = written.filter((input) => {
    parseConfig(input)
    return !validate(input)
  })
  t.strictSame(wrong, [])
  t.ok(validate(parseConfig({})), 'with every default filled in')
  t.ok(validate({ store: 'file:/run/secrets/store', redis: `redis://:\${PASSWORD}@cache` }), 'references to secrets')
})

const WORDS = 'x /x 10s 9h GET block strict monitor a:1 http://a http://a/b ftp://a sqlite:x redis://x low-friction'
const SIMPLE = [true, 0, -1, 0.5, 500, 1e13, '', null]
const NESTED = [[], ['x'], [1], ['GET'], [{}], {}, { x: 1 }, { x: {} }]

/** Values of every kind; each key takes some of them. */
const VALUES: readonly unknown[] = [...SIMPLE, ...WORDS.split(' '), ...NESTED]

/** Faults that only the reader knows: kinds of URL, lengths of time as words, a named account, a file's content. */
const UNSAID =
  /^(upstream|dns\.servers|data\.(mirror|from)|webBotAuth\.agents|robots\.sitemaps|ledger\.timestamps|payment\.url|usage\.license): |^(limits\.eventLoopDelay|timeouts\.\w+): "(10s|9h)"$/

t.test('for every key and value both say the same', async (t) => {
  t.ok(KEYS.length > 90)
  const wrong: string[] = []
  for (const [key] of KEYS.filter(([key]) => !key.includes('*'))) {
    for (const value of VALUES) {
      const input = key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
      const read = Config.safeParse(input).success
      const told = `${key}: ${JSON.stringify(value)}`
      if (read !== validate(input) && !(UNSAID.test(told) && !read)) wrong.push(`${told} is ${read ? '' : 'not '}read`)
    }
  }
  t.strictSame(wrong, [])
})

t.test('a misspelt key or word is refused in lists and maps too', async (t) => {
  const withMatch = (match: object) => ({ policy: { rules: [{ id: 'a', match, action: 'block' }] } })
  for (const input of [
    { listn: '127.0.0.1:1' },
    withMatch({ klass: ['tor'] }),
    withMatch({ networkClass: ['torr'] }),
    withMatch({ confidence: { atLeast: 2 } }),
    withMatch({ mail: { throwaway: true } }),
    withMatch({ time: { days: ['Sunday'] } }),
    { policy: { rules: [{ id: 'A b', match: {}, action: 'block' }] } },
    { data: { sources: { aws: { enbled: true } } } },
    { routes: [{ path: 'events' }] },
  ]) {
    t.notOk(validate(input), JSON.stringify(input))
    t.throws(() => parseConfig(input), JSON.stringify(input))
  }
})
