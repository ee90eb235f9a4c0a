import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { connect as tlsConnect } from 'node:tls'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { makeCertificate } from '../../proxy/certificate.ts'
import { probed } from '../../proxy/held.ts'
import { heldBefore, leftBehind, repeat } from './left-behind.ts'
import { ODD_HEADS } from './odd-heads.ts'
import { type Place, withScene } from './scene.ts'
import { headOf, portOf, readToEnd } from './wire.ts'

/** To each of five clients. */
const EACH = Math.ceil(numberFlag('each', 500) / 4)
const AT_ONCE = 50
const WARM_UP = 5
const PATIENCE_MS = 30_000
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** An origin whose answers are odd: no answer ends the process, and clients of both versions of HTTP get the same. */
export async function faultAnswers(place: Place): Promise<Measured> {
  const raised = {
    tls: { certificates: [await makeCertificate(place.folder)] },
    // A machine that is late sheds load; that is not what is looked at.
    limits: { eventLoopDelay: '1m' },
  }
  return withScene(place, { origin: 'raw-origin.js', raised, node: probed(place.folder) }, async ({ proxy }) => {
    const names = Object.keys(ODD_HEADS)
    const broken: string[] = []
    const port = portOf(proxy.url)
    const clients = async (): Promise<Readonly<Record<string, (path: string) => Promise<number>>>> => {
      const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, maxHeaderListPairs: 1_000 }).on(
        'error',
        () => {},
      )
      await Promise.race([once(session, 'connect'), once(session, 'close')])
      return {
        'HTTP/1.1': (path) => overHttp1(port, headOf('GET', path, 'Connection: close')),
        'HTTP/2': (path) => overHttp2(session, 'GET', path),
        'HEAD over HTTP/1.1': (path) => overHttp1(port, headOf('HEAD', path, 'Connection: close')),
        'HEAD over HTTP/2': (path) => overHttp2(session, 'HEAD', path),
        'a WebSocket handshake': (path) => overHttp1(port, headOf('GET', path, ...UPGRADE)),
        async end() {
          session.close()
          return 0
        },
      }
    }
    const ask = async (at: number, times: number): Promise<string> => {
      const { end, ...ways } = await clients()
      const got: Record<string, Set<number>> = {}
      await repeat(times, AT_ONCE, async () => {
        for (const [way, of] of Object.entries(ways)) {
          got[way] ??= new Set()
          got[way].add(await of(`/odd/${at}`))
        }
      })
      await end?.('')
      const [first = ''] = Object.values(got).map((statuses) => [...statuses].join())
      const other = Object.entries(got).find(([, statuses]) => [...statuses].join() !== first)
      return other === undefined ? first : `${first}, and ${[...other[1]].join()} to ${other[0]}`
    }

    const before = await heldBefore(proxy, place.folder, async () => {
      for (const at of names.keys()) await ask(at, WARM_UP)
    })
    for (const [at, name] of names.entries()) {
      if (!proxy.running()) break
      const outcome = await ask(at, EACH)
      if (!/^(?:200|205|502)$/.test(outcome)) broken.push(`an answer with ${name}: ${outcome}`)
    }
    const left = await leftBehind(
      proxy,
      place.folder,
      before,
      `${names.length} odd answers, ${EACH} times to five clients`,
    )
    return { measured: left.measured, broken: [...broken, ...left.broken] }
  })
}

/** The status of an answer; 0 where there is none, or no end of it. */
async function overHttp1(port: number, request: string): Promise<number> {
  const socket = tlsConnect({ port, host: '127.0.0.1', ALPNProtocols: ['http/1.1'], rejectUnauthorized: false })
  socket.on('error', () => {})
  socket.write(request)
  const bytes = await readToEnd(socket, PATIENCE_MS)
  return bytes === 'late' ? 0 : Number(/^HTTP\/1\.1 (\d{3}) /.exec(bytes.toString('latin1'))?.[1] ?? 0)
}

async function overHttp2(session: ClientHttp2Session, method: string, path: string): Promise<number> {
  if (session.destroyed) return 0
  const fields = { ':method': method, ':path': path, ':authority': 'site.example' }
  const stream = session.request(fields).on('error', () => {})
  let status = 0
  stream.on('response', (head) => {
    status = Number(head[':status'])
  })
  stream.resume()
  const late = setTimeout(() => stream.close(), PATIENCE_MS)
  await new Promise((resolve) => stream.once('close', resolve))
  clearTimeout(late)
  return stream.rstCode === 0 ? status : 0
}
