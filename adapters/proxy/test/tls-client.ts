import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Duplex } from 'node:stream'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { dial } from './wire.ts'

/** How the bytes before a hello come: in its packet, in one before it, or each byte in one of its own. */
export type Packets = 'one' | 'two' | 'bytes'

/** A connection whose first bytes are `header`; the first that is written to it are a hello. */
export async function connectionWith(url: string, header: string, packets: Packets = 'one'): Promise<Duplex> {
  const socket = await dial(url)
  socket.setNoDelay(true)
  let before = Buffer.from(header, 'latin1')
  if (packets === 'two') {
    await new Promise<void>((resolve) => socket.write(before, () => setTimeout(resolve, 10)))
    before = Buffer.alloc(0)
  }
  let first = true
  return new Duplex({
    read: () => void socket.resume(),
    async construct(done) {
      socket.on('data', (bytes) => this.push(bytes) || socket.pause())
      socket.on('end', () => this.push(null)).on('close', () => this.destroy())
      done()
    },
    write(chunk: Buffer, _, done) {
      const bytes = first ? Buffer.concat([before, chunk]) : chunk
      if (first && packets === 'bytes') void writeBytes(socket, bytes).then(() => done())
      else socket.write(bytes, () => done())
      first = false
    },
    final(done) {
      socket.end(() => done())
    },
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
}

async function writeBytes(socket: Duplex, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    socket.write(Buffer.from([byte]))
    await new Promise(setImmediate)
  }
}

/** TLS over a connection; the certificate is not looked at. */
export async function securedOver(socket: Duplex, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const client = connect({ socket, rejectUnauthorized: false, ...options })
  client.on('error', () => {})
  await once(client, 'secureConnect')
  return client
}

/** The status of one request of HTTP/2 over a TLS connection that has agreed on it. */
export async function askedHttp2(client: TLSSocket): Promise<number> {
  const session: ClientHttp2Session = connectHttp2('https://site.example', { createConnection: () => client })
  const stream = session.request({ ':path': '/' })
  const [fields] = await once(stream, 'response')
  stream.resume()
  await once(stream, 'close')
  session.destroy()
  client.destroy()
  return Number(fields[':status'])
}
