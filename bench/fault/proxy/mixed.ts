import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createRandom } from '@sallyport/core/testing'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { repeat } from './left-behind.ts'
import { type Place, withScene } from './scene.ts'
import { type Answer, answerReader, dial, headOf, portOf } from './wire.ts'

const BODIES = numberFlag('bodies', 100_000)
const LANES = 64
const ADDRESSES = 16
/** One of so many clients leaves before it has its answer. */
const LEAVES = 20
const LEAVES_WITHIN_MS = 10
const MAX_BYTES = 20_000
const PATIENCE_MS = 40_000

type Outcome = 'right' | 'mixed up' | 'left' | 'none' | string

/** Bodies of which no two are alike go to the origin and come back, while clients leave at random: none comes to another. */
export async function faultMixed(place: Place): Promise<Measured> {
  return withScene(place, {}, async ({ proxy }) => {
    const outcomes = new Map<Outcome, number>()
    const lanes = Array.from({ length: LANES }, (_, at) => openLane(portOf(proxy.url), at))
    await repeat(BODIES, LANES, async (number) => {
      const lane = lanes.pop() as ReturnType<typeof openLane>
      const outcome = await lane(number)
      lanes.push(lane)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    })
    console.log(`\n${BODIES} unique bodies through ${LANES} connections, one of ${LEAVES} clients leaves`)
    console.table(Object.fromEntries(outcomes))
    const mixed = outcomes.get('mixed up') ?? 0
    return {
      measured: `${outcomes.get('right') ?? 0} of ${BODIES} come back right, ${outcomes.get('left') ?? 0} clients left, ${mixed} are mixed up`,
      broken: [...(proxy.running() ? [] : ['the proxy ended']), ...(mixed > 0 ? ['bodies are mixed up'] : [])],
    }
  })
}

/** A client that keeps its connection from one body to the next, until one of them is gone. */
function openLane(port: number, at: number): (number: number) => Promise<Outcome> {
  const random = createRandom(at)
  let socket: Socket | undefined
  let settle = (_: Answer | 'cut'): void => {}

  const connect = (): Socket => {
    const opened = dial(port, `127.0.1.${1 + (at % ADDRESSES)}`)
    opened.on(
      'data',
      answerReader((answer) => settle(answer)),
    )
    return opened.once('close', () => socket === opened && settle('cut'))
  }

  return async (number) => {
    if (socket === undefined || socket.destroyed) socket = connect()
    const body = bodyOf(number, 1 + random(MAX_BYTES))
    const answer = new Promise<Answer | 'cut' | 'late'>((resolve) => {
      const late = setTimeout(() => resolve('late'), PATIENCE_MS)
      settle = (settled) => {
        clearTimeout(late)
        resolve(settled)
      }
    })
    const current = socket
    current.write(headOf('POST', '/echo', `X-Echo: ${number}`, `Content-Length: ${body.length}`))
    current.write(body)
    if (random(LEAVES) === 0) {
      setTimeout(() => (random(2) === 0 ? current.destroy() : current.resetAndDestroy()), random(LEAVES_WITHIN_MS))
      if (!current.destroyed) await once(current, 'close')
      return 'left'
    }
    const came = await answer
    if (typeof came === 'string') {
      current.destroy()
      return came
    }
    const { status, head, body: back } = came
    if (/\r\nconnection: close/i.test(head)) current.destroy()
    if (status !== 200) return String(status)
    return back.equals(body) && /\r\nx-echo: (\d+)/i.exec(head)?.[1] === String(number) ? 'right' : 'mixed up'
  }
}

/** Bytes that no other number has. */
function bodyOf(number: number, length: number): Buffer {
  return Buffer.alloc(length, `${createHash('sha256').update(String(number)).digest('hex')} ${number} `)
}
