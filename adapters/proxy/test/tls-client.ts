import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { type BeforeOptions, proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate } from './certificate.ts'
import { dial, OK, readUntil } from './wire.ts'

/** Opens a proxy with TLS for `site.example` in front of a raw origin. */
export async function withTls(t: Test, { tls, ...options }: BeforeOptions = {}) {
  const folder = certificateFolder(t)
  const certificates = [makeCertificate(folder, ['site.example'])]
  const before = await proxyBefore(t, OK, { trust: [], tls: { certificates, ...tls }, ...options })
  return { ...before, folder }
}

/** Returns the names of the certificate that a client is served. */
export async function servedNames(url: string, servername?: string): Promise<string | undefined> {
  const socket = await secured(url, servername === undefined ? {} : { servername })
  const { subjectaltname } = socket.getPeerCertificate()
  socket.destroy()
  return subjectaltname
}

/** Opens a connection as a client does; the test looks at its certificate. */
export async function secured(url: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return securedOver(await dial(url), options)
}

export function askedOver(socket: TLSSocket, bytes: string): Promise<string> {
  socket.write(bytes)
  return readUntil(socket)
}

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

export async function securedOver(socket: Duplex, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const client = connect({ socket, rejectUnauthorized: false, ...options })
  client.on('error', () => {})
  await once(client, 'secureConnect')
  return client
}

/** Divides a message into records of these sizes, the last of them again and again. */
export function inRecords(message: Buffer, ...sizes: readonly number[]): Buffer {
  const records: Buffer[] = []
  for (let at = 0, index = 0; at < message.length; index++) {
    const part = message.subarray(at, at + (sizes[Math.min(index, sizes.length - 1)] as number))
    records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 0xff]), part)
    at += part.length
  }
  return Buffer.concat(records)
}
