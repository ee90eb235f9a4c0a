import type { Socket } from 'node:net'
import type { Held } from './crowd.ts'
import { KINDS, type Kind } from './kinds.ts'
import { dial } from './wire.ts'

/*
 * Slow sockets, all from one address: `node attackers.js PORT KIND COUNT REOPEN_MS`. One that is cut comes again. Tells
 * how many are open when it is asked.
 */
/** So many dial in each turn, so that the listener's queue is not what is attacked. */
const DIALS = 50
const DIAL_MS = 20
const ADDRESS = '127.0.0.2'

function attack(port: number, kind: Kind, count: number, reopenMs: number): void {
  const open = new Set<Socket>()
  let cut = 0
  const start = (at: number): void => {
    const { reads } = kind
    const buffer = Buffer.alloc(reads || 4_096)
    const socket = dial(port, ADDRESS, { onread: { buffer, callback: () => reads === undefined } })
    if (reads === 0) socket.pause()
    socket.once('connect', () => {
      open.add(socket)
      socket.write(kind.first(at))
    })
    socket.once('end', () => socket.destroy())
    socket.once('close', () => {
      open.delete(socket)
      cut += 1
      setTimeout(start, reopenMs, at)
    })
  }
  const startFrom = (at: number): void => {
    for (let next = at; next < Math.min(count, at + DIALS); next++) start(next)
    if (at + DIALS < count) setTimeout(startFrom, DIAL_MS, at + DIALS)
  }
  startFrom(0)
  setInterval(() => {
    for (const socket of open) {
      if (kind.drip !== undefined && socket.writable) socket.write(kind.drip)
      if (kind.reads) socket.resume()
    }
  }, 1_000)
  process.on('message', () => process.send?.({ open: open.size, cut } satisfies Held))
  process.send?.('ready')
}

const [port, kind = '', count, reopenMs] = process.argv.slice(2)
attack(Number(port), KINDS[kind] as Kind, Number(count), Number(reopenMs))
