import { once } from 'node:events'
import { connect } from 'node:tls'
import type { Shot } from './load.ts'

// `node handshakes.js URL SECONDS`: handshakes one after another on a few connections, none resumed, told to the process that started it.
const AT_ONCE = 8
const [address = '', seconds = '1'] = process.argv.slice(2)
const { hostname, port } = new URL(address)
const began = performance.now()
const end = began + Number(seconds) * 1_000
const times: number[] = []
let errors = 0

async function shake(): Promise<void> {
  while (performance.now() < end) {
    const start = performance.now()
    const socket = connect({
      host: hostname,
      port: Number(port),
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    })
    try {
      await once(socket, 'secureConnect')
      times.push(performance.now() - start)
    } catch {
      errors++
    }
    socket.destroy()
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, shake))
const sorted = times.toSorted((one, other) => one - other)
const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
const shot: Shot = {
  requests: times.length,
  seconds: (performance.now() - began) / 1_000,
  p50: at(0.5),
  p99: at(0.99),
  errors,
}
process.send?.(shot)
