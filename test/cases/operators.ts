import type { ConfigInput } from '@sallyport/engine'
import { parse } from 'yaml'
import { type Judge, type Outcome, readRows, short } from './case.ts'
import { requestBytes } from './product.ts'

/* Files that operators have: lists that others publish, checks of a server in front, and logs of our own. */

const ADDRESS = /^(?:deny )?(\d+\.\d+\.\d+\.\d+)/
const PRODUCT = /^[A-Za-z][\w-]*$/

/** A list of addresses in the form of a server, or of names of programs: a rule that blocks what is listed blocks the first of them. */
export const publishedList: Judge = {
  takes({ name, text }) {
    const lines = readRows(text).map(([line = '']) => line)
    return /\.(?:conf|txt)$/.test(name) && (ADDRESS.test(lines[0] ?? '') || lines.every((line) => PRODUCT.test(line)))
  },
  async judge({ name, path, text }, product) {
    const address = ADDRESS.exec(text)?.[1]
    const word = address === undefined ? 'userAgent' : 'address'
    const [listed = ''] = text.split('\n', 1)
    const userAgent = `Mozilla/5.0 (compatible; ${address === undefined ? listed : 'Any'}/1.2; +https://bot.example)`
    const rules = [{ id: 'listed', match: { [word]: ['list:given'] }, action: 'block' as const }]
    const lists = { given: { file: path } }
    const gate = await product.gate({ trustProxy: ['loopback'], lists, policy: { preset: 'observe', rules } })
    const fields = [['X-Forwarded-For', address ?? '73.162.10.20'] as const, ['User-Agent', userAgent] as const]
    const { decision } = await gate.ask(requestBytes('GET', '/', fields))
    const came = decision?.action ?? 'not decided'
    return [{ input: name, expected: 'block', came, ok: came === 'block' }]
  },
}

/** A check of a server in front, below the keys of the gate; `Right: 200` says what it is answered. */
export const forwardedCheck: Judge = {
  takes: ({ name, text }) => name.endsWith('.txt') && /^forwardAuth: /.test(text),
  async judge({ name, text }, product) {
    const [keys = '', head = ''] = text.split('\n\n')
    const gate = await product.gate(parse(`{ ${keys} }`) as ConfigInput)
    const { status } = await gate.ask(`${head.replaceAll('\n', '\r\n')}\r\nConnection: close\r\n\r\n`)
    const right = Number(/^Right: (\d{3})/m.exec(text)?.[1])
    return [{ input: name, expected: String(right), came: String(status), ok: status === right }]
  },
}

/** A log that is not in the order of its times: by the limit of the policy beside it, no client is throttled. */
export const unsortedLog: Judge = {
  takes: (file) => limitBeside(file) !== undefined,
  async judge(file, product) {
    const { out, err } = await product.run('replay', file.path, '--policy', limitBeside(file)?.path ?? '', '--json')
    const throttled = /"throttle": *(\d+)/.exec(out)?.[1] ?? (out === '' ? short(err) : '0')
    return [{ input: file.name, expected: '0 throttled', came: `${throttled} throttled`, ok: throttled === '0' }]
  },
}

function limitBeside({ name, beside }: Parameters<Judge['takes']>[0]): ReturnType<typeof beside> {
  return name.endsWith('-newest-first.log') ? beside(name.replace('newest-first.log', 'limit.yaml')) : undefined
}

/** A log of a server behind a balancer, whose lines name the client: with that balancer in `trustProxy`, the replay tells clients apart. */
export const balancedLog: Judge = {
  takes: ({ name, text }) => name.endsWith('.log') && /"http_x_forwarded_for":/.test(text),
  async judge({ name, path }, product) {
    const config = product.write('balanced.yaml', product.config({ trustProxy: ['private'] }))
    const policy = product.write('observe.yaml', 'preset: observe\n')
    const { out, err } = await product.run('replay', path, '--policy', policy, '--json', '--config', config)
    const classes = out === '' ? [] : (JSON.parse(out).classes as readonly { readonly class: string }[])
    const came =
      classes
        .map((one) => one.class)
        .sort()
        .join(', ') || short(err)
    const ok = came.includes('human') && came.includes('unverified_bot')
    return [{ input: name, expected: 'human and unverified_bot among others', came, ok }]
  },
}

/** Our own log of challenges behind a server: the tests of examples make such visits again, as no command reads it. */
export const writtenLog: Judge = {
  takes: ({ name, text }) => name.endsWith('-challenges.log') && /"challengeRule":/.test(text),
  judge: async ({ name }): Promise<readonly Outcome[]> => [
    { input: name, expected: 'as many challenges as visits', came: 'counted by the tests of examples', ok: undefined },
  ],
}

/** Starts an origin where credentials of NTLM prove a whole connection, and asks as another client. */
export const connectionOfOne: Judge = {
  takes: ({ name, text }) => name.endsWith('.json') && /"steps"/.test(text) && /Authorization: NTLM/.test(text),
  async judge({ name }, product) {
    const users = new WeakSet<object>()
    const gate = await product.gate({ trustProxy: ['loopback'] }, (head, connection) => {
      if (/^authorization: ntlm /im.test(head)) users.add(connection)
      const status = users.has(connection) ? '200 OK' : '401 Unauthorized\r\nWWW-Authenticate: NTLM'
      return `HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`
    })
    const proven = [['Authorization', 'NTLM TlRMTVNTUAADAAAAuserA'] as const]
    const statuses: number[] = []
    for (const fields of [proven, []]) statuses.push((await gate.ask(requestBytes('GET', '/a', fields))).status)
    const came = statuses.join(', then ')
    return [{ input: name, expected: '200, then 401', came, ok: came === '200, then 401' }]
  },
}

/** Reads lines `X-Forwarded-Proto: wss <tab> https (…)`: what a trusted proxy says of the scheme, and what the origin must read. */
export const namedScheme: Judge = {
  takes: ({ name, text }) => name.endsWith('.txt') && /^X-Forwarded-Proto: \S+\t/m.test(text),
  async judge({ name, text }, product) {
    const gate = await product.gate({ trustProxy: ['loopback'] })
    const outcomes: Outcome[] = []
    for (const [field = '', words = ''] of readRows(text).filter(([line = '']) => !line.startsWith('#'))) {
      const [named = '', value = ''] = field.split(': ')
      const [right = ''] = words.split(' ')
      const before = gate.origin.heads.length
      const shake = [
        ['Connection', 'Upgrade'],
        ['Upgrade', 'websocket'],
        ['Sec-WebSocket-Version', '13'],
      ] as const
      const upgrade = words.includes('websocket')
        ? [...shake, ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='] as const]
        : []
      await gate.ask(requestBytes('GET', '/', [['X-Forwarded-For', '73.162.10.20'], [named, value], ...upgrade]))
      const came = /^x-forwarded-proto: (.*)\r$/im.exec(gate.origin.heads[before] ?? '')?.[1] ?? 'nothing'
      outcomes.push({ input: `${name}: ${field}`, expected: right, came, ok: came === right })
    }
    return outcomes
  },
}
