import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Decision } from '@sallyport/core'
import { type ConfigInput, open } from '@sallyport/engine'
import { openProxy, type ProxyOptions } from '@sallyport/proxy'
import { ROOT } from '../workspaces.ts'
import { type Answer, openRecordingOrigin, type RecordingOrigin } from './origin.ts'

/** A proxy before an origin that keeps the heads it gets, as a configuration has it. */
export interface Gate {
  readonly url: string
  readonly origin: RecordingOrigin
  /** Lists the failures of the origin that the proxy reported. */
  readonly failures: readonly Error[]
  /** Sends bytes on their own connection, and returns the answer, the decisions, and what reached the origin. */
  ask(bytes: string): Promise<Asked>
  readonly decisions: readonly Decision[]
}

export interface Asked {
  readonly status: number
  readonly answer: string
  readonly decision: Decision | undefined
  /** Target at the origin; absent where nothing arrived there. */
  readonly target: string | undefined
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

const BIN = join(ROOT, 'packages/sallyport/bin/sallyport.mjs')
/** No server listens there: no DNS query leaves this machine. */
const NOWHERE = { SALLYPORT_DNS_SERVERS: '127.0.0.1:9' }

/** The product as it is installed: its embedded data, its proxy on real sockets, its commands in processes of their own. */
export class Product {
  readonly folder = mkdtempSync(join(tmpdir(), 'sallyport-cases-'))
  readonly #gates = new Map<string, Promise<Gate>>()
  readonly #ends: (() => Promise<unknown>)[] = []

  /** Opens a gate by its configuration, and returns the same gate for the same configuration. */
  gate(config: ConfigInput, answer?: Answer, edge: ProxyOptions = {}): Promise<Gate> {
    const key = JSON.stringify([config, String(answer), edge])
    const gate = this.#gates.get(key) ?? this.#open(config, answer, edge)
    this.#gates.set(key, gate)
    return gate
  }

  /** A configuration with what every run has. */
  config(config: ConfigInput): ConfigInput {
    return {
      dataDir: join(this.folder, 'state'),
      log: { requests: 'off' },
      dns: { servers: ['127.0.0.1:9'] },
      ...config,
      data: { refresh: false, ...config.data },
    }
  }

  async #open(config: ConfigInput, answer: Answer | undefined, edge: ProxyOptions): Promise<Gate> {
    const origin = await openRecordingOrigin(answer)
    const sallyport = await open(this.config(config), { onNotice: () => {} })
    const decisions: Decision[] = []
    const failures: Error[] = []
    const proxy = await openProxy(sallyport, {
      ...sallyport.config,
      tls: undefined,
      upstream: origin.url,
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      limits: { eventLoopDelay: '1m' },
      onDecision: (decision) => decisions.push(decision),
      onOriginFailure: (error) => failures.push(error),
      ...edge,
    })
    this.#ends.push(
      () => proxy.close('cut'),
      () => sallyport.close(),
      () => origin.close(),
    )
    return {
      url: proxy.url,
      origin,
      failures,
      decisions,
      async ask(bytes) {
        const [before, heads] = [decisions.length, origin.heads.length]
        const answer = await answerTo(proxy.url, bytes)
        return {
          status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0),
          answer,
          decision: decisions[before],
          target: origin.heads[heads]?.split(' ')[1],
        }
      },
    }
  }

  /** Runs a command of `sallyport`. */
  async run(...argv: readonly string[]): Promise<Ran> {
    const child = spawn(process.execPath, [BIN, ...argv], { cwd: this.folder, env: { ...process.env, ...NOWHERE } })
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code: Number(code), out, err }
  }

  /** Writes a file into a folder of the run and returns its path. */
  write(name: string, content: unknown): string {
    const path = join(this.folder, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Writes a request from a client's address, which a trusted proxy on loopback names. */
export function requestBytes(method: string, target: string, fields: readonly (readonly [string, string])[]): string {
  const isNamed = (name: string) => fields.some(([field]) => field.toLowerCase() === name)
  const host = isNamed('host') ? [] : ['Host: site.example']
  const close = isNamed('connection') ? [] : ['Connection: close']
  const lines = fields.map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${target} HTTP/1.1`, ...host, ...lines, ...close, '', ''].join('\r\n')
}

/** All that comes back: until the connection ends, or until one answer with its length is whole. */
function answerTo(url: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'))
    let answer = ''
    socket.setTimeout(20_000, () => socket.destroy())
    socket.on('data', (data) => {
      answer += data.toString('latin1')
      if (isWhole(answer)) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  const length = /^content-length: *(\d+)/im.exec(end < 0 ? '' : answer.slice(0, end))?.[1]
  return length !== undefined && answer.length >= end + 4 + Number(length)
}
