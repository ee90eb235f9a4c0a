import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createRandom, type Random } from '@sallyport/core/testing'
import { type Asked, KINDS, type Kind, pickKind } from './requests.ts'
import { type Answer, answerReader, dial } from './wire.ts'

/* A steady rate over connections that take turns; each of them is left after some requests, and another one comes. */

const CONNECTIONS = 200
/** So few connections have one address that none has more than its share. */
const ADDRESSES = 16
const TICK_MS = 5
/** A visitor that waits longer leaves. */
const PATIENCE_MS = 20_000
/** Requests of a connection at the most. */
const LONGEST = 200
/** Answers that a worker which was killed owed are cut, so long after it. */
const AFTER_A_DEATH_MS = 3_000

export interface Tally {
  readonly perSecond: number
  readonly answers: number
  /** Unexpected outcomes, and how often they came. */
  readonly failures: Readonly<Record<string, number>>
  readonly errors: number
  /** Answers that were refused because the machine was too busy. */
  readonly shed: number
  /** Connections that were cut when a worker died; new ones that wait since then; and connections that clients left. */
  readonly cutByDeath: number
  readonly untaken: number
  readonly left: number
  readonly connections: number
  readonly refused: number
}

export interface Traffic {
  run(perSecond: number, seconds: number): Promise<Tally>
  /** Makes later requests send this key. */
  useKey(key: string): void
  /** Tells the traffic that a worker is killed now. */
  expectDeath(): void
  /** Ids of records that were acknowledged. */
  readonly attested: readonly number[]
  close(): void
}

export function openTraffic(port: number, firstKey: string): Traffic {
  const random = createRandom(31)
  const attested: number[] = []
  let key = firstKey
  let diedAt = Number.NEGATIVE_INFINITY
  let tally = emptyTally()
  let visitors = 0
  let turn = 0

  function take(kind: Kind, answer: Answer | Missing): void {
    if (typeof answer === 'string') {
      const sinceDeathMs = performance.now() - diedAt
      if (answer === 'cut' && sinceDeathMs < AFTER_A_DEATH_MS) tally.cutByDeath++
      else if (answer === 'untaken' && sinceDeathMs < PATIENCE_MS + AFTER_A_DEATH_MS) tally.untaken++
      else fail(`${kind.name}: ${answer}`)
      return
    }
    tally.answers++
    if (answer.status === 503) tally.shed++
    else if (!kind.statuses.includes(answer.status)) fail(`${kind.name}: ${answer.status}`)
    if (answer.status === 403 || answer.status === 429) tally.refused++
    if (kind.name === 'attest' && answer.status === 200) attested.push(JSON.parse(String(answer.body)).attestation_id)
  }
  const fail = (what: string): void => {
    tally.failures[what] = (tally.failures[what] ?? 0) + 1
  }
  const open = (at: number): Connection => {
    tally.connections++
    return openConnection(dial(port, `127.0.1.${1 + (at % ADDRESSES)}`), random, {
      next: () => ({ kind: pickKind(KINDS, random), asked: { key, number: visitors++, random } }),
      take,
      onLeft: () => tally.left++,
    })
  }
  const connections = Array.from({ length: CONNECTIONS }, (_, at) => open(at))
  /** By the next connection that waits for no answer; false where each of them does. */
  const ask = (): boolean => {
    for (let tries = 0; tries < CONNECTIONS; tries++) {
      const at = turn++ % CONNECTIONS
      if (connections[at]?.gone()) connections[at] = open(at)
      if (connections[at]?.ask()) return true
    }
    return false
  }

  return {
    attested,
    async run(perSecond, seconds) {
      tally = emptyTally()
      const start = performance.now()
      for (let sent = 0; performance.now() - start < seconds * 1000; ) {
        const due = ((performance.now() - start) * perSecond) / 1000
        // Requests that no connection is free for are sent a moment later.
        while (sent < due && ask()) sent++
        await delay(TICK_MS)
      }
      const took = (performance.now() - start) / 1000
      const errors = Object.values(tally.failures).reduce((sum, times) => sum + times, 0)
      return { ...tally, errors, perSecond: (tally.answers + tally.left) / took }
    },
    useKey(next) {
      key = next
    },
    expectDeath() {
      diedAt = performance.now()
    },
    close() {
      for (const { close } of connections) close()
    },
  }
}

function emptyTally() {
  return {
    answers: 0,
    shed: 0,
    cutByDeath: 0,
    untaken: 0,
    left: 0,
    connections: 0,
    refused: 0,
    failures: {} as Record<string, number>,
  }
}

/** No answer: its connection was cut, its client waited too long, or nothing ever came on its connection. */
type Missing = 'cut' | 'late' | 'untaken'

interface Connection {
  gone(): boolean
  /** Sends a request, or returns false where the connection waits for an answer. */
  ask(): boolean
  close(): void
}

interface Caller {
  next(): { readonly kind: Kind; readonly asked: Asked }
  take(kind: Kind, answer: Answer | Missing): void
  onLeft(): void
}

function openConnection(socket: Socket, random: Random, { next, take, onLeft }: Caller): Connection {
  let current: { readonly kind: Kind; readonly late: NodeJS.Timeout } | undefined
  let left = 1 + random(LONGEST)
  let taken = false
  const settle = (answer: Answer | Missing): void => {
    if (current === undefined) return
    clearTimeout(current.late)
    take(current.kind, answer)
    current = undefined
  }
  const abandon = (): void => {
    clearTimeout(current?.late)
    current = undefined
  }
  const leave = (): void => {
    if (current !== undefined) onLeft()
    abandon()
    // Half of those that leave do it by a reset.
    if (random(2) === 0) socket.destroy()
    else socket.resetAndDestroy()
  }
  socket.on(
    'data',
    answerReader((answer) => {
      taken = true
      settle(answer)
      left -= 1
      if (left === 0 || /\r\nconnection: close/i.test(answer.head)) socket.destroy()
    }),
  )
  socket.on('close', () => settle('cut'))
  return {
    gone: () => socket.destroyed,
    ask() {
      if (current !== undefined) return false
      const { kind, asked } = next()
      const late = setTimeout(() => {
        settle(taken ? 'late' : 'untaken')
        socket.destroy()
      }, PATIENCE_MS)
      current = { kind, late }
      socket.write(kind.text(asked))
      if (kind.leavesWithinMs !== undefined) setTimeout(leave, random(kind.leavesWithinMs))
      return true
    },
    close() {
      abandon()
      socket.destroy()
    },
  }
}
