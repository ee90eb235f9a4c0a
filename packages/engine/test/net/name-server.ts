import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Question, TRUNCATED_RESPONSE } from 'dns-packet'
import type { Test } from 'tap'
import { listening } from '#stores/testing'

/** The server's answer to one question: records (none is NODATA), a response code, or nothing at all. */
export type Reply = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silent'

const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 } as const

/** The most that goes into one datagram here; what is larger is cut off there and whole over TCP, as real servers do. */
const MAX_BYTES = 512

export interface NameServerOptions {
  /** Whether what does not fit a datagram can be had over TCP. */
  readonly overTcp?: boolean | undefined
  /** Every name is an alias of this one (CNAME), and this one has the records. */
  readonly through?: string | undefined
  /** Changes an answer's bytes on the way into some that no encoder writes. */
  readonly changed?: ((answer: Buffer) => Buffer) | undefined
}

/** Opens a DNS server on loopback that closes with its test; `asked` collects the questions as they were put, `<type> <name>`. */
export async function openNameServer(
  t: Test,
  reply: (type: string, name: string) => Reply,
  { overTcp = false, through, changed = (answer) => answer }: NameServerOptions = {},
) {
  const asked: string[] = []

  function answerTo(message: Buffer): Buffer | undefined {
    const query = decode(message)
    const question = query.questions?.[0] as Question
    asked.push(`${question.type} ${question.name}`)
    const said = reply(question.type, question.name)
    if (said === 'silent') return undefined
    const records = typeof said === 'string' ? [] : said
    const record = (type: string, name: string, text: string) => {
      const data = type === 'MX' ? { preference: 10, exchange: text } : text
      return { type, name, ttl: 0, data } as Answer
    }
    const answers = records.map((data) => record(question.type, through ?? question.name, data))
    if (through !== undefined) answers.unshift(record('CNAME', question.name, through))
    const rcode = typeof said === 'string' ? RCODES[said] : 0
    const { id = 0 } = query
    const flags = AUTHORITATIVE_ANSWER | rcode
    return changed(encode({ type: 'response', id, flags, questions: [question], answers }))
  }

  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const whole = answerTo(message)
    if (whole === undefined) return
    socket.send(whole.length > MAX_BYTES ? cutOff(message) : whole, from.port, from.address)
  })
  const server = createServer((connection) => {
    connection.on('error', () => {})
    connection.on('data', (data) => {
      const whole = answerTo(data.subarray(2))
      if (whole !== undefined) connection.write(Buffer.concat([Buffer.of(whole.length >> 8, whole.length), whole]))
    })
    connection.unref()
  })
  socket.bind(overTcp ? await listening(t, server) : 0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

/** An answer that holds nothing but that it did not fit (RFC 1035 section 4.2.1, bit TC). */
function cutOff(message: Buffer): Buffer {
  const { id = 0, questions = [] } = decode(message)
  return encode({ type: 'response', id, questions, flags: AUTHORITATIVE_ANSWER | TRUNCATED_RESPONSE })
}
