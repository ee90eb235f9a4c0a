import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Decision } from '@sallyport/core'
import { type ConfigInput, open } from '@sallyport/engine'
import { openProxy } from '@sallyport/proxy'
import { running } from '../hosts/host.ts'
import { makeFolder } from '../started.ts'

/** Opens a proxy before an origin, by a configuration. */
async function openGate(config: ConfigInput, ends: (() => unknown)[]) {
  const targets: (string | undefined)[] = []
  const answering = createServer(({ url }, response) => {
    targets.push(url)
    response.end('ok')
  })
  const origin = await running(answering)
  ends.push(origin.close)
  // No server listens there: no DNS query leaves this machine.
  const quiet = { dns: { servers: ['127.0.0.1:9'] }, data: { refresh: false }, log: { requests: 'off' } } as const
  const sallyport = await open({ ...quiet, ...config } as ConfigInput, { onNotice: () => {} })
  const decisions: Decision[] = []
  const proxy = await openProxy(sallyport, {
    ...sallyport.config,
    tls: undefined,
    upstream: `http://127.0.0.1:${origin.port}`,
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    onDecision: (decision) => decisions.push(decision),
  })
  ends.unshift(
    () => proxy.close('cut'),
    () => sallyport.close(),
  )
  return {
    /** Sends bytes on their own connection, and returns the status, the decision, and the target that reached the origin. */
    async ask(bytes: string) {
      const [before, sent] = [decisions.length, targets.length]
      const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'))
      const answer = await text(socket.setTimeout(20_000, () => socket.destroy())).catch(() => '')
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
      return { status, decision: decisions[before], target: targets[sent] }
    },
  }
}

/** The product as it is installed: its embedded data, and its proxy on real sockets. */
export class Product {
  readonly #dataDir = makeFolder()
  readonly #gates = new Map<string, ReturnType<typeof openGate>>()
  readonly #ends: (() => unknown)[] = []

  /** Opens a gate by its configuration, and returns the same gate for the same configuration. */
  gate(config: ConfigInput) {
    const key = JSON.stringify(config)
    const gate = this.#gates.get(key) ?? openGate({ dataDir: this.#dataDir, ...config }, this.#ends)
    this.#gates.set(key, gate)
    return gate
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end()
  }
}

/** Writes a request from a client's address, which a trusted proxy on loopback names. */
export function requestBytes(method: string, target: string, fields: readonly (readonly [string, string])[]): string {
  const isHostNamed = fields.some(([field]) => field.toLowerCase() === 'host')
  const host = isHostNamed ? [] : ['Host: site.example']
  const lines = fields.map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${target} HTTP/1.1`, ...host, ...lines, 'Connection: close', '', ''].join('\r\n')
}
