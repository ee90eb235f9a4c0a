import { createRandom } from '@sallyport/core/testing'
import t from 'tap'
import { type HeadFields, readHead } from '../src/request/head-fields.ts'

/** Fields of which the first counts and which must not come twice. */
const ONCE = {
  host: 'host',
  contentLength: 'content-length',
  contentType: 'content-type',
  authorization: 'authorization',
  userAgent: 'user-agent',
  expect: 'expect',
} as const
/** Fields of which the first counts, and that may come twice. */
const FIRST = { referer: 'referer', solution: 'sallyport-solution' } as const
const LISTS = {
  authority: ':authority',
  connection: 'connection',
  transferEncoding: 'transfer-encoding',
  upgrade: 'upgrade',
  webSocketVersion: 'sec-websocket-version',
  webSocketKey: 'sec-websocket-key',
  via: 'via',
} as const
const FLAGS = {
  isConditional: ['if-none-match', 'if-modified-since'],
  isAhead: ['purpose', 'sec-purpose'],
  namesScheme: ['forwarded', 'x-forwarded-proto'],
} as const

/** Finds the same by reading all fields for each name. */
function plainly(fields: readonly string[], single: string | undefined): HeadFields {
  const pairs = Array.from({ length: fields.length >> 1 }, (_, at) => ({
    name: (fields[2 * at] as string).toLowerCase(),
    value: fields[2 * at + 1] as string,
  }))
  const listValues = (wanted: string) => pairs.flatMap(({ name, value }) => (name === wanted ? [value] : []))
  const join = (name: string, mark: string) => (listValues(name).length > 0 ? listValues(name).join(mark) : undefined)
  const each = (names: object, read: (name: never) => unknown) =>
    Object.fromEntries(Object.entries(names).map(([key, name]) => [key, read(name as never)]))
  const names: readonly unknown[] = [...Object.values(ONCE), single]
  const isTwice = (name: string, at: number) =>
    names.includes(name) && pairs.slice(0, at).some((one) => one.name === name)
  return {
    ...each({ ...ONCE, ...FIRST }, (name) => listValues(name)[0]),
    ...each(LISTS, (name) => join(name, ', ')),
    ...each(FLAGS, (names: readonly string[]) => names.some((name) => listValues(name).length > 0)),
    cookie: join('cookie', ';'),
    twice: pairs.find(({ name }, at) => isTwice(name, at))?.name,
  } as HeadFields
}

t.test('the facts of a head are those of a plain reading', async (t) => {
  const random = createRandom(51)
  const known: readonly string[] = [ONCE, FIRST, LISTS, FLAGS, { cookie: 'cookie' }].flatMap(Object.values).flat()
  const others = ['x-real-ip', 'x-forwarded-for', 'accept', 'trailer', '', 'vie', 'hosts', 'user_agent']
  const mixCase = (name: string): string =>
    [...name].map((letter) => (random(3) === 0 ? letter.toUpperCase() : letter)).join('')
  const changeName = (name: string): string => {
    const at = random(name.length + 1)
    return name.slice(0, at) + String.fromCharCode(33 + random(94)) + name.slice(at + 1)
  }
  const wrong: unknown[] = []
  for (let round = 0; round < 20_000; round++) {
    const fields: string[] = []
    for (let at = random(12); at > 0; at--) {
      const all = random(3) === 0 ? others : known
      const name = all[random(all.length)] as string
      fields.push(random(6) === 0 ? changeName(name) : mixCase(name), `v${random(4)}`)
    }
    // The last name of a list that is cut has no value.
    if (random(20) === 0) fields.push('Host')
    const single = random(2) === 0 ? 'x-real-ip' : undefined
    const [read, plain] = [readHead(fields, single), plainly(fields, single)]
    const differs = Object.keys(plain).some((key) => read[key as keyof HeadFields] !== plain[key as keyof HeadFields])
    if (differs || Object.keys(read).length !== Object.keys(plain).length) wrong.push({ fields, single, read })
  }
  t.same(wrong, [])
})
