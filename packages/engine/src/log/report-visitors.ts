import { earnedPass, refuses, VISITORS, type Visitor, visitorOf } from '@sallyport/core'
import type { LogLine } from './line.ts'

/** Clients of one kind, each counted once, by their address. */
export interface ReportedVisitors {
  readonly clients: number
  /** Those that were stopped, and those that monitor mode or a rule on trial would have stopped. */
  readonly affected: number
  readonly wouldAffect: number
}

/** Clients that are distinguished; of more, the first. */
const MAX_CLIENTS = 100_000

interface Known {
  who: Visitor
  affected: boolean
  wouldAffect: boolean
}

/** The visitor that a line is of; `undefined` where nothing was decided. */
export function visitorIn({
  class: ofClass,
  networkClass = '',
  botProbability,
  ...line
}: LogLine): Visitor | undefined {
  if (ofClass === undefined) return undefined
  const hasPass = line.passLevel !== undefined || (line.challenge !== undefined && earnedPass(line.challenge))
  return visitorOf({ class: ofClass, networkClass, botProbability, hasPass })
}

/** Sums up the clients of lines, in memory that is bounded. One that is a person once was a person before. */
export function createVisitorSums(): {
  add(line: LogLine): void
  result(): Readonly<Record<Visitor, ReportedVisitors>>
} {
  const clients = new Map<string, Known>()
  return {
    add(line) {
      const { client, action = 'allow', enforced, trial = 'allow' } = line
      const who = visitorIn(line)
      if (client === undefined || who === undefined) return
      let known = clients.get(client)
      if (known === undefined) {
        if (clients.size >= MAX_CLIENTS) return
        known = { who, affected: false, wouldAffect: false }
        clients.set(client, known)
      }
      if (VISITORS.indexOf(who) < VISITORS.indexOf(known.who)) known.who = who
      if (isStopping(action)) known[enforced === false ? 'wouldAffect' : 'affected'] = true
      if (isStopping(trial)) known.wouldAffect = true
    },
    result() {
      const all = [...clients.values()]
      const sumOf = (who: Visitor): ReportedVisitors => {
        const own = all.filter((one) => one.who === who)
        return {
          clients: own.length,
          affected: own.filter(({ affected }) => affected).length,
          wouldAffect: own.filter(({ affected, wouldAffect }) => affected || wouldAffect).length,
        }
      }
      return { person: sumOf('person'), unclear: sumOf('unclear'), program: sumOf('program') }
    },
  }
}

function isStopping(action: string): boolean {
  return refuses(action as Parameters<typeof refuses>[0])
}
