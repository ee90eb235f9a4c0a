import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { type Place, withScene } from './scene.ts'
import { answerReader, dial, headOf, portOf } from './wire.ts'

const UPLOAD_S = numberFlag('upload-seconds', 75)
const DOWNLOAD_S = numberFlag('download-seconds', 90)
const BYTES_PER_SECOND = 20_000
const STEPS_PER_SECOND = 10

/** An upload of 75 s, in three framings, and a download at 20 KB/s beside them: all of them pass whole. */
export async function faultLong(place: Place): Promise<Measured> {
  return withScene(place, {}, async ({ proxy }) => {
    const port = portOf(proxy.url)
    const bytes = UPLOAD_S * BYTES_PER_SECOND
    const small = UPLOAD_S * 800
    const outcomes: Readonly<Record<string, Promise<string>>> = {
      [`an upload of ${bytes} bytes`]: upload(port, bytes, false),
      [`an upload of ${bytes} bytes in chunks`]: upload(port, bytes, true),
      [`an upload of ${small} bytes`]: upload(port, small, false),
      [`a download at ${BYTES_PER_SECOND / 1000} KB/s`]: download(port),
    }
    const rows: Record<string, object> = {}
    const broken: string[] = []
    for (const [name, outcome] of Object.entries(outcomes)) {
      const text = await outcome
      rows[name] = { outcome: text }
      if (text !== WHOLE) broken.push(`${name}: ${text}`)
    }
    console.log(`\nuploads of ${UPLOAD_S} s, and a download that is slow for ${DOWNLOAD_S} s`)
    console.table(rows)
    const count = Object.keys(outcomes).length
    return { measured: `${count - broken.length} of ${count} pass whole`, broken }
  })
}

const WHOLE = 'whole'

async function upload(port: number, bytes: number, chunked: boolean): Promise<string> {
  const start = performance.now()
  const socket = dial(port, '127.0.1.1')
  let outcome: string | undefined
  socket.on(
    'data',
    answerReader(({ status, body }) => {
      outcome = status === 200 && body.toString() === String(bytes) ? WHOLE : `${status} ${body.toString().trim()}`
    }),
  )
  socket.write(headOf('POST', '/upload', chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`))
  const steps = UPLOAD_S * STEPS_PER_SECOND
  const piece = 'x'.repeat(bytes / steps)
  for (let step = 0; step < steps && outcome === undefined && !socket.destroyed; step++) {
    socket.write(chunked ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece)
    await delay(start + ((step + 1) * 1000) / STEPS_PER_SECOND - performance.now())
  }
  if (chunked) socket.write('0\r\n\r\n')
  for (let waited = 0; outcome === undefined && !socket.destroyed && waited < 50; waited++) await delay(100)
  socket.destroy()
  const told = outcome ?? 'cut'
  return told === WHOLE ? told : `${told}, after ${((performance.now() - start) / 1000).toFixed(0)} s`
}

/** Slow at first; then, while it is still open, as fast as it comes. */
async function download(port: number): Promise<string> {
  let received = 0
  let expected = Number.NaN
  let slow = true
  const buffer = Buffer.alloc(BYTES_PER_SECOND / STEPS_PER_SECOND)
  const socket: Socket = dial(port, '127.0.1.2', {
    onread: {
      buffer,
      callback(count) {
        if (Number.isNaN(expected)) {
          const head = buffer.toString('latin1', 0, count)
          const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
          expected = head.indexOf('\r\n\r\n') + 4 + length
        }
        received += count
        if (received === expected) socket.destroy()
        return !slow
      },
    },
  })
  socket.write(headOf('GET', '/download'))
  const start = performance.now()
  for (let step = 0; step < DOWNLOAD_S * STEPS_PER_SECOND && !socket.destroyed; step++) {
    socket.resume()
    await delay(start + ((step + 1) * 1000) / STEPS_PER_SECOND - performance.now())
  }
  slow = false
  socket.resume()
  if (!socket.destroyed) await once(socket, 'close')
  return received === expected ? WHOLE : `${received} of ${expected} bytes`
}
