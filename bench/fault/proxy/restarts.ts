import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { type Place, withScene } from './scene.ts'
import { answerReader, dial, headOf, portOf } from './wire.ts'

const RESTARTS = numberFlag('restarts', 5)
const CLIENTS = 64
const BEFORE_MS = 1_500
const DRAINED_MS = 10_000
const FORCED_MS = 3_000
/** Sooner, a second signal is the first one's echo. */
const AGAIN_MS = 1_500
const REQUEST = headOf('GET', '/')

interface Ended {
  answers: number
  /** Taken in part and then cut. */
  cut: number
  /** Sent on a connection that was idle as the proxy closed it: nothing of it was answered, and a client may send it again. */
  crossed: number
}

/** A proxy that is asked to end while clients with kept connections ask for pages, again and again. */
export async function faultRestarts(place: Place): Promise<Measured> {
  const ended: Ended = { answers: 0, cut: 0, crossed: 0 }
  const took: number[] = []
  const broken: string[] = []
  for (let restart = 0; restart < RESTARTS; restart++) {
    await withScene(place, {}, async ({ proxy }) => {
      const clients = Array.from({ length: CLIENTS }, (_, at) =>
        askOn(portOf(proxy.url), `127.0.1.${1 + (at % 16)}`, ended),
      )
      await delay(BEFORE_MS)
      const start = performance.now()
      process.kill(proxy.pid, 'SIGTERM')
      while (proxy.running() && performance.now() < start + 2 * DRAINED_MS) await delay(10)
      took.push(Math.round(performance.now() - start))
      await Promise.all(clients)
    })
  }
  const forced = await withScene(place, {}, async ({ proxy }) => {
    const socket = dial(portOf(proxy.url), '127.0.1.1')
    socket.write(headOf('GET', '/slow'))
    await delay(500)
    process.kill(proxy.pid, 'SIGTERM')
    await delay(AGAIN_MS)
    const waits = proxy.running()
    if (!waits) broken.push('what was in flight was not waited for')
    const start = performance.now()
    if (waits) process.kill(proxy.pid, 'SIGTERM')
    while (proxy.running() && performance.now() < start + 2 * FORCED_MS) await delay(10)
    socket.destroy()
    return Math.round(performance.now() - start)
  })
  if (ended.cut > 0) broken.push(`${ended.cut} answers were cut`)
  if (Math.max(...took) > DRAINED_MS) broken.push(`drained in ${Math.max(...took)} ms`)
  if (forced > FORCED_MS) broken.push(`a second SIGTERM takes ${forced} ms`)
  return {
    measured: `${RESTARTS} times under load: ${ended.answers} answers, ${ended.cut} cut, ${ended.crossed} sent as the connection was closed; gone after ${Math.max(...took)} ms at the most, ${forced} ms at a second signal`,
    broken,
  }
}

/** Asks on one kept connection after another until none can be made. */
async function askOn(port: number, address: string, ended: Ended): Promise<void> {
  for (let refused = false; !refused; ) {
    refused = await new Promise<boolean>((resolve) => {
      const socket = dial(port, address)
      let connected = false
      let waiting = false
      let bytes = 0
      const ask = () => {
        bytes = 0
        waiting = true
        socket.write(REQUEST)
      }
      socket.once('connect', () => {
        connected = true
        ask()
      })
      socket.on('data', (part: Buffer) => {
        bytes += part.length
      })
      socket.on(
        'data',
        answerReader(({ head }) => {
          ended.answers++
          waiting = false
          if (/\r\nconnection: close/i.test(head)) socket.destroy()
          else setTimeout(() => !socket.destroyed && ask(), 2)
        }),
      )
      socket.once('close', () => {
        if (waiting && bytes > 0) ended.cut++
        else if (waiting) ended.crossed++
        resolve(!connected)
      })
    })
  }
}
