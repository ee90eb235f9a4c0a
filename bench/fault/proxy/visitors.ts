import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { answerReader, dial, headOf, portOf } from './wire.ts'

/** Each asks so often, in milliseconds: far less than the machine can, so that what is lost was kept from them. */
const EVERY_MS = 50
const LANES = 32
/** A visitor that waits longer has no answer. */
const PATIENCE_MS = 10_000
const REQUEST = headOf('GET', '/')

/** Service of good visitors since they were last asked. */
export interface Traffic {
  /** Answers with status 200 a second. */
  readonly perSecond: number
  /** Milliseconds, with those that still wait, and with those that had no answer for as long as they waited. */
  readonly p50: number
  readonly p99: number
  /** Other outcomes, and how often they came. */
  readonly failures: Readonly<Record<string, number>>
}

export interface Visitors {
  take(): Traffic
  stop(): void
}

/**
 * Good visitors, each from an address of its own: half of them keep their connection, half open one for each request, as
 * newcomers do.
 */
export function startVisitors(url: string): Visitors {
  const port = portOf(url)
  const lanes = Array.from({ length: LANES }, (_, at) => openLane(port, `127.0.1.${at + 1}`, at % 2 === 0))
  let since = performance.now()
  return {
    take() {
      const now = performance.now()
      const seconds = (now - since) / 1000
      since = now
      const taken = lanes.map((lane) => lane.take(now))
      const waits = taken.flatMap(({ waits }) => waits).toSorted((x, y) => x - y)
      const failures: Record<string, number> = {}
      for (const outcome of taken.flatMap(({ outcomes }) => outcomes)) {
        if (outcome !== '200') failures[outcome] = (failures[outcome] ?? 0) + 1
      }
      const answered = taken.flatMap(({ outcomes }) => outcomes).filter((outcome) => outcome === '200').length
      const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0
      return { perSecond: answered / seconds, p50: at(0.5), p99: at(0.99), failures }
    },
    stop() {
      for (const lane of lanes) lane.stop()
    },
  }
}

function openLane(port: number, address: string, kept: boolean) {
  let outcomes: string[] = []
  let waits: number[] = []
  let asked: number | undefined
  let going = true
  let connection: Connection | undefined

  const run = async (): Promise<void> => {
    while (going) {
      const start = performance.now()
      asked = start
      connection ??= openConnection(port, address)
      const outcome = await connection.ask()
      asked = undefined
      outcomes.push(outcome)
      waits.push(performance.now() - start)
      if (!kept || outcome !== '200') {
        connection.close()
        connection = undefined
      }
      await delay(Math.max(0, start + EVERY_MS - performance.now()))
    }
  }
  void run()

  return {
    take(now: number) {
      const taken = { outcomes, waits: asked === undefined ? waits : [...waits, now - asked] }
      outcomes = []
      waits = []
      return taken
    },
    stop() {
      going = false
      connection?.close()
    },
  }
}

interface Connection {
  /** The status of the answer, or what came instead. */
  ask(): Promise<string>
  close(): void
}

function openConnection(port: number, address: string): Connection {
  const socket: Socket = dial(port, address)
  let settle = (_: string): void => {}
  socket.on(
    'data',
    answerReader(({ status }) => settle(String(status))),
  )
  socket.on('close', () => settle('cut'))
  return {
    ask: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => settle('late'), PATIENCE_MS)
        settle = (outcome) => {
          clearTimeout(late)
          resolve(outcome)
        }
        if (socket.destroyed) settle('cut')
        else socket.write(REQUEST)
      }),
    close: () => void socket.destroy(),
  }
}
