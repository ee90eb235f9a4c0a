import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { createRandom } from '@sallyport/core/testing'
import t from 'tap'
import { openOrigin, pickLength, startGate } from './gate.ts'

/* Clients share the connections to the origin, and some leave while their answers come. */
const BODIES = pickLength(100_000, 1_500)
const CLIENTS = 64
const MAX_BYTES = 20_000
/** One of so many clients leaves before it has its answer, after at most so many turns of the loop. */
const LEAVES = 20
const TURNS = 20

function bodyFor(number: number, length: number): Buffer {
  return Buffer.alloc(length, `${createHash('sha256').update(String(number)).digest('hex')} ${number} `)
}

t.test(`${BODIES} bodies of which no two are alike, while clients leave: none comes to another`, async (t) => {
  const { port } = await startGate(t, await openOrigin(t))
  const counts = { right: 0, left: 0, others: 0 }
  let next = 0

  async function send(agent: Agent, random: (below: number) => number): Promise<void> {
    const number = next++
    const body = bodyFor(number, 1 + random(MAX_BYTES))
    const headers = { 'x-echo': number, 'content-length': body.length }
    const sent = request({ port, host: '127.0.0.1', agent, method: 'POST', path: '/echo', headers })
    sent.on('error', () => {})
    sent.end(body)
    if (random(LEAVES) === 0) {
      for (let turns = random(TURNS); turns > 0; turns--) await setImmediate()
      sent.destroy()
      counts.left++
      return
    }
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const back = await buffer(response)
    if (response.statusCode === 200 && response.headers['x-echo'] === String(number) && back.equals(body))
      counts.right++
    else counts.others++
  }

  async function stay(client: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const random = createRandom(client)
    while (next < BODIES) await send(agent, random)
    agent.destroy()
  }

  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => stay(client)))
  t.equal(counts.others, 0)
  t.equal(counts.right + counts.left, next)
  t.ok(counts.left > 0, `${counts.left} clients left`)
})
