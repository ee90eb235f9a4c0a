import { createServer, type RequestListener, type Server } from 'node:http'
import { connect } from 'node:net'
import { compilePolicy, createInspector, type Decision, type Mode, parseTrust } from '@sallyport/core'
import { createFakeClock, makeSnapshots } from '@sallyport/core/testing'
import { listening } from '@sallyport/engine/testing'
import type { Test } from 'tap'
import type { Decider, Outcome } from '../src/decider.ts'
import { createInspection } from '../src/inspection/create-inspection.ts'
import { NODE, type NodePlace } from '../src/receive.ts'

/** A decider that goes by the path: `/blocked` is blocked, `/flagged` flagged, any other allowed. */
export function decider(mode: Mode = 'enforce') {
  return createInspector({
    clock: createFakeClock('2026-11-01T00:00:00Z'),
    snapshots: makeSnapshots(),
    trust: parseTrust([]),
    policy: compilePolicy({
      preset: 'observe',
      rules: [
        { id: 'no-entry', match: { path: ['/blocked'] }, action: 'block' },
        { id: 'look-twice', match: { path: ['/flagged'] }, action: 'flag' },
      ],
    }),
    mode,
  })
}

export function decideRequest(decider: Decider, place: NodePlace): Outcome | Promise<Outcome> {
  return createInspection(NODE, decider)(place, undefined)
}

/** The decision about a path; the network as it is given. */
export function decisionOn(target: string, network: { asn?: number; country?: string } = {}, mode?: Mode): Decision {
  const asked = { peer: '192.0.2.1', method: 'GET', target, scheme: 'http', httpVersion: '1.1', fields: [] } as const
  const decision = decider(mode).decide(asked)
  const { country, asn } = network
  const finding = { ...decision.inspection.network, ...(asn === undefined ? {} : { asn }) }
  const inspection = { ...decision.inspection, network: finding, ...(country === undefined ? {} : { country }) }
  return { ...decision, inspection }
}

/** Starts a server on a free port of loopback, which listens until the test ends. */
export async function serve(t: Test, listener?: RequestListener, prepare?: (server: Server) => void): Promise<number> {
  const server = createServer(listener ?? ((_req, res) => res.end()))
  prepare?.(server)
  return await listening(t, server)
}

/** A connection to a port on loopback, closed when the test ends. What was received is in `text()`. */
export function dial(t: Test, port: number, bytes: string) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => (received += chunk))
  socket.on('error', () => socket.destroy())
  socket.on('end', () => socket.end())
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)))
  socket.write(bytes)
  t.teardown(() => socket.destroy())
  return { socket, text: () => received, closed }
}

/** Lists the warnings of the process from now on, with their codes, until the test ends. */
export function hearWarnings(t: Test): readonly string[] {
  const warnings: string[] = []
  const hear = ({ code, message }: Error & { readonly code?: string | undefined }) =>
    void warnings.push(`${code} ${message}`)
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  return warnings
}
