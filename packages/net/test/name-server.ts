import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Question } from 'dns-packet'

/** What the server says to one question: records (none is NODATA), a response code, or nothing at all. */
export type Reply = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silent'

const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 } as const

/** A DNS server on loopback; `asked` collects the questions as they were put, `<type> <name>`. */
export async function openNameServer(reply: (type: string, name: string) => Reply) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const query = decode(message)
    const question = query.questions?.[0] as Question
    asked.push(`${question.type} ${question.name}`)
    const said = reply(question.type, question.name)
    if (said === 'silent') return
    const records = typeof said === 'string' ? [] : said
    const answers = records.map((data) => ({ type: question.type, name: question.name, ttl: 0, data }) as Answer)
    const rcode = typeof said === 'string' ? RCODES[said] : 0
    const packet = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: AUTHORITATIVE_ANSWER | rcode,
      questions: [question],
      answers,
    })
    socket.send(packet, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { address: `127.0.0.1:${socket.address().port}`, asked, close: () => socket.close() }
}
