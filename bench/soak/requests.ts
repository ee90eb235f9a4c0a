import type { Random } from '@sallyport/core/testing'
import { BROWSER, browserFields, pairFields } from '../browser.ts'
import { visitorAddresses } from '../visitors.ts'

/** Each kind builds its request from these parts. */
export interface Asked {
  readonly key: string
  /** Counts up. */
  readonly number: number
  readonly random: Random
}

/** One kind of request, as often as its weight says. */
export interface Kind {
  readonly name: string
  readonly weight: number
  readonly text: (asked: Asked) => string
  /** Answers that are right. */
  readonly statuses: readonly number[]
  /** The client leaves within this many milliseconds, before the answer. */
  readonly leavesWithinMs?: number | undefined
}

/** Half of the visitors come again and again, the others once. */
const RETURNING = visitorAddresses(4_000)
/** Banned clients have other addresses than clients that request pages. */
const ATTACKERS = 512
/** There are so few addresses that all their names are known once the caches are full. */
const IMPOSTORS = 512

const pickAddress = ({ number, random }: Asked): string =>
  random(2) === 0
    ? (RETURNING[random(RETURNING.length)] as string)
    : `${20 + ((number >>> 24) & 127)}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`

function readText(line: string, fields: readonly string[], body = ''): string {
  const lines = [line, ...pairFields(fields).map((pair) => pair.join(': '))]
  if (body !== '') lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

const page = (path: string) => (asked: Asked) => readText(`GET ${path} HTTP/1.1`, browserFields(pickAddress(asked)))

const impostor = (userAgent: string) => (asked: Asked) =>
  readText('GET / HTTP/1.1', browserFields(RETURNING[asked.random(IMPOSTORS)] as string, userAgent))

const api = (line: string, body: object | undefined) => (asked: Asked) => {
  const fields = ['Host', 'example.com', 'Authorization', `Bearer ${asked.key}`, 'X-Forwarded-For', pickAddress(asked)]
  const json = body === undefined ? [] : ['Content-Type', 'application/json']
  return readText(line, [...fields, ...json], body === undefined ? '' : JSON.stringify(body))
}

const VISIT = [200, 403, 429]
const KEY_HANDSHAKE = ['Sec-WebSocket-Version', '13', 'Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==']

/** Visitors, crawlers, agents, customers of /v1, attackers, and clients that leave. */
export const KINDS: readonly Kind[] = [
  { name: 'page', weight: 560, text: page('/'), statuses: VISIT },
  {
    name: 'form',
    weight: 80,
    text: (asked) =>
      readText('POST /echo HTTP/1.1', browserFields(pickAddress(asked)), 'x'.repeat(1 + asked.random(4_000))),
    statuses: VISIT,
  },
  {
    name: 'crawler',
    weight: 60,
    text: impostor('Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'),
    statuses: VISIT,
  },
  { name: 'agent', weight: 50, text: impostor('Mozilla/5.0 (compatible; GPTBot/1.2)'), statuses: VISIT },
  {
    name: 'attacker',
    weight: 20,
    text: (asked) =>
      readText('GET /.env HTTP/1.1', browserFields(`8.9.${asked.random(ATTACKERS) >> 8}.${asked.number & 255}`)),
    statuses: [403, 429],
  },
  {
    name: 'network',
    weight: 100,
    text: (asked) => api(`GET /v1/vpn/${pickAddress(asked)} HTTP/1.1`, undefined)(asked),
    statuses: [200],
  },
  { name: 'own address', weight: 30, text: api('GET /v1/myip HTTP/1.1', undefined), statuses: [200, 429] },
  {
    name: 'agent check',
    weight: 30,
    text: (asked) =>
      api('POST /v1/agentscan/check HTTP/1.1', { ip: pickAddress(asked), headers: { 'user-agent': BROWSER } })(asked),
    statuses: [200],
  },
  {
    name: 'attest',
    weight: 20,
    text: (asked) =>
      api('POST /v1/provenance/check HTTP/1.1', { ip: pickAddress(asked), claimed_jurisdiction: 'DE' })(asked),
    statuses: [200],
  },
  { name: 'left early', weight: 2, text: page('/big'), statuses: VISIT, leavesWithinMs: 30 },
  { name: 'left waiting', weight: 10, text: page('/slow'), statuses: VISIT, leavesWithinMs: 200 },
  {
    name: 'left within its body',
    weight: 10,
    text: (asked) =>
      readText('POST /upload HTTP/1.1', [...browserFields(pickAddress(asked)), 'Content-Length', '9000'], '').concat(
        'x'.repeat(100),
      ),
    statuses: VISIT,
    leavesWithinMs: 50,
  },
  {
    name: 'WebSocket',
    weight: 5,
    text: (asked) => {
      const fields = browserFields(pickAddress(asked)).map((field) => (field === 'keep-alive' ? 'Upgrade' : field))
      return readText('GET /ws HTTP/1.1', [...fields, 'Upgrade', 'websocket', ...KEY_HANDSHAKE])
    },
    statuses: [101, ...VISIT],
    leavesWithinMs: 2_000,
  },
]

const WHOLE = KINDS.reduce((sum, { weight }) => sum + weight, 0)

/** Selects a kind at random by weight. */
export function pickKind(kinds: readonly Kind[], random: Random): Kind {
  let at = random(WHOLE)
  for (const kind of kinds) {
    if (at < kind.weight) return kind
    at -= kind.weight
  }
  return kinds[0] as Kind
}
