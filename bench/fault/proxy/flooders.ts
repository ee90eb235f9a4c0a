import type { Socket } from 'node:net'
import { dial } from './wire.ts'

/*
 * `node flooders.js PORT CONNECTIONS REQUESTS ADDRESSES`: that many connections, spread over some addresses, each of which
 * writes all its requests at once when it is asked. Tells how many were cut when it is asked again.
 */
const [port, connections, requests, addresses] = process.argv.slice(2).map(Number) as [number, number, number, number]
const FLOOD = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests))
/** Few at a time, so that the listener's queue is not what is attacked. */
const DIAL_MS = 2

const open: Socket[] = []
let cut = 0
let written = false

function start(at: number): void {
  const buffer = Buffer.alloc(65_536)
  const socket = dial(port, `127.0.0.${2 + (at % addresses)}`, { onread: { buffer, callback: () => true } })
  socket.once('close', () => {
    cut += 1
  })
  open.push(socket)
  if (at + 1 < connections) setTimeout(start, DIAL_MS, at + 1)
  else setTimeout(() => process.send?.('ready'), 500)
}
process.on('message', () => {
  if (!written) for (const socket of open) socket.write(FLOOD)
  written = true
  process.send?.(cut)
})
start(0)
