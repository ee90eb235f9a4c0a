import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { NO_POSTGRES, NO_REDIS } from '@sallyport/engine/testing'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { compileData } from '../proxy/sallyport.ts'
import { faultAuthorities } from './authorities.ts'
import { faultChallenged } from './challenged.ts'
import { faultClock, NO_FAKETIME } from './clock.ts'
import { faultCost } from './cost.ts'
import { faultCounts } from './counts.ts'
import { faultDisk, NO_NAMESPACE } from './disk.ts'
import { faultDns } from './dns.ts'
import { faultFlush } from './flush.ts'
import { faultKeys } from './keys.ts'
import { faultPostgres, faultRedis } from './outages.ts'
import { runProgram, runTests } from './programs.ts'
import { faultAborts } from './proxy/aborts.ts'
import { faultAnswers } from './proxy/answers.ts'
import { faultFair } from './proxy/fair.ts'
import { faultOrigins } from './proxy/faults.ts'
import { faultFirstBytes } from './proxy/first-bytes.ts'
import { faultHttp2Aborts } from './proxy/http2-aborts.ts'
import { faultHttp2Breaks } from './proxy/http2-breaks.ts'
import { faultLong } from './proxy/long.ts'
import { faultMixed } from './proxy/mixed.ts'
import { faultOneAddress } from './proxy/one-address.ts'
import { faultPipelining } from './proxy/pipelining.ts'
import { faultRestarts } from './proxy/restarts.ts'
import type { Place } from './proxy/scene.ts'
import { faultSlow } from './proxy/slow.ts'
import { faultSteady } from './proxy/steady.ts'
import { faultReloads } from './reloads.ts'
import { faultReplays } from './replays.ts'
import { faultSyncs, NO_FIU } from './syncs.ts'
import { faultThroughput } from './throughput.ts'
import { faultWorkers } from './workers.ts'

/** Compiled data, made when the first row needs it. */
export type Compiled = () => Promise<Place>

export function compiledPlace(folder: string): Compiled {
  let place: Promise<Place> | undefined
  const compile = async (): Promise<Place> => {
    const dataDir = join(folder, 'data')
    await mkdir(dataDir)
    await compileData(dataDir)
    return { folder, dataDir }
  }
  return () => {
    place ??= compile()
    return place
  }
}

export interface Row {
  /** R1 and so on are what any such service owes; A1 and so on are attacks. */
  readonly name: string
  readonly promise: string
  /** About so long, whole and with `--quick`. */
  readonly seconds: { readonly whole: number; readonly quick: number }
  /** Why it cannot run here, if it cannot. */
  readonly missing?: (() => string | false) | undefined
  readonly run: (place: Compiled) => Promise<Measured>
}

const KILLS = String(numberFlag('kills', 100))
const LINUX = () => process.platform !== 'linux' && 'it needs Linux, whose loopback network has many addresses'

const onProxy = (run: (place: Place) => Promise<Measured>) => ({
  missing: LINUX,
  run: async (place: Compiled) => run(await place()),
})

const tests = (files: readonly string[], more: Readonly<Record<string, string>>) => ({
  run: () => runTests(files, more),
})

const about = (whole: number, quick: number) => ({ whole, quick })

export const ROWS: readonly Row[] = [
  {
    name: 'R1',
    promise: 'a decision takes less than 50 µs, and less than 500 µs in 99 of 100 cases',
    seconds: about(15, 15),
    ...onProxy(faultCost),
  },
  {
    name: 'R2',
    promise: 'a steady load over 1,000 connections: no error, and memory grows by less than 5 %',
    seconds: about(340, 60),
    ...onProxy(faultSteady),
  },
  {
    name: 'R3',
    promise: 'slow sockets from one address: visitors keep 90 % of what they had',
    seconds: about(330, 200),
    ...onProxy(faultSlow),
  },
  {
    name: 'R4',
    promise: 'kill -9 while records are appended: none that was acknowledged is lost, one chain',
    seconds: about(240, 40),
    ...tests(
      [
        'packages/engine/dist/test/stores/ledger-faults.long.test.js',
        'packages/engine/dist/test/stores/postgres-ledger.test.js',
      ],
      { SALLYPORT_FAULT_KILLS: KILLS, SALLYPORT_FAULT_FROZEN_MS: '10000' },
    ),
  },
  {
    name: 'R5',
    promise: 'the ledger keeps 3,000 records a second in SQLite and 2,000 in PostgreSQL',
    seconds: about(15, 15),
    run: faultThroughput,
  },
  {
    name: 'R6',
    promise: 'a full disk: writes are 503, the rest goes on, and it recovers within 5 s of room',
    seconds: about(40, 40),
    missing: () => NO_NAMESPACE,
    run: faultDisk,
  },
  {
    name: 'R7',
    promise: 'a disk that fails 2 % of its syncs and writes: 503 and no id, or a record that is there',
    seconds: about(60, 60),
    missing: () => NO_FIU,
    run: faultSyncs,
  },
  {
    name: 'R8',
    promise: 'PostgreSQL goes: 503 within 1 s, visitors unaffected, back within 3 s',
    seconds: about(60, 25),
    missing: () => NO_POSTGRES,
    run: faultPostgres,
  },
  {
    name: 'R9',
    promise: 'Redis goes: answers within 300 ms, limits stay limits, back within 3 s',
    seconds: about(45, 20),
    missing: () => NO_REDIS,
    run: faultRedis,
  },
  {
    name: 'R9b',
    promise: 'Redis forgets everything: no client gets more than twice its limit',
    seconds: about(5, 5),
    missing: () => NO_REDIS,
    run: faultFlush,
  },
  {
    name: 'R9c',
    promise: 'a solution 200 times at once, over two machines at load with one Redis: one pass',
    seconds: about(30, 10),
    missing: () => NO_REDIS || LINUX(),
    run: faultReplays,
  },
  {
    name: 'R10',
    promise: '16 processes count against one quota, and one limit: exactly as many pass',
    seconds: about(120, 20),
    run: faultCounts,
  },
  {
    name: 'R11',
    promise: 'DNS answers nothing: no decision waits, a check says so within 2.5 s',
    seconds: about(20, 20),
    run: faultDns,
  },
  {
    name: 'R12',
    promise: 'feeds that are broken, cut, huge or killed while written: the last good ones stay',
    seconds: about(180, 60),
    ...tests(
      [
        'packages/engine/dist/test/open/feed-hostile.long.test.js',
        'packages/engine/dist/test/open/feed-kill.long.test.js',
      ],
      { SALLYPORT_HOSTILE: 'all', SALLYPORT_KILLS: KILLS },
    ),
  },
  {
    name: 'R13',
    promise: 'the clock jumps an hour and a year: no negative wait, no quota that opens again, one chain',
    seconds: about(40, 40),
    missing: () => NO_FAKETIME,
    run: faultClock,
  },
  {
    name: 'R14',
    promise: 'SIGTERM under load: every request that was taken is answered, gone within 10 s',
    seconds: about(60, 30),
    ...onProxy(faultRestarts),
  },
  {
    name: 'R15',
    promise: 'whatever bytes come: it lives, answers in time and serves the next one',
    seconds: about(130, 60),
    run: () => runProgram('test/dist/fuzz/run.js', ['--seconds', String(numberFlag('fuzz-seconds', 8))]),
  },
  {
    name: 'R16',
    promise: 'days of mixed traffic and changes: memory, descriptors, listeners and timers stay',
    seconds: about(640, 110),
    run: () => runProgram('bench/dist/soak/run.js', ['--minutes', String(numberFlag('soak-minutes', 8))]),
    missing: LINUX,
  },
  {
    name: 'R17',
    promise: 'an origin that fails in 39 ways: the proxy lives, and nothing stays behind',
    seconds: about(240, 60),
    ...onProxy(faultOrigins),
  },
  {
    name: 'R18',
    promise: 'unique bodies while clients leave: none comes to another',
    seconds: about(90, 15),
    ...onProxy(faultMixed),
  },
  {
    name: 'R19',
    promise: 'workers die, cannot start, hang and sleep: served again in time, no counter falls, one leads',
    seconds: about(220, 110),
    missing: LINUX,
    run: faultWorkers,
  },
  {
    name: 'A1',
    promise: 'floods of pipelined requests: others wait less than 1 s',
    seconds: about(30, 30),
    ...onProxy(faultPipelining),
  },
  {
    name: 'A2',
    promise: 'more connections from one address than are taken in all: others are served',
    seconds: about(30, 25),
    ...onProxy(faultOneAddress),
  },
  {
    name: 'A3',
    promise: 'long uploads and a slow download pass whole',
    seconds: about(100, 20),
    ...onProxy(faultLong),
  },
  {
    name: 'A4',
    promise: 'clients that leave at four moments: nothing stays behind',
    seconds: about(40, 25),
    ...onProxy((place) => faultAborts(place, false)),
  },
  {
    name: 'A4b',
    promise: 'clients over TLS that leave at four moments: nothing stays behind',
    seconds: about(40, 25),
    ...onProxy((place) => faultAborts(place, true)),
  },
  {
    name: 'A5',
    promise: 'two million clients come once: memory is bounded, who is exhausted stays so',
    seconds: about(90, 15),
    run: faultKeys,
  },
  {
    name: 'A6',
    promise: 'any changed byte of a ledger is found',
    seconds: about(60, 60),
    ...tests(['packages/ledger/dist/test/tampering.long.test.js'], { SALLYPORT_FLIP_EVERY: '1' }),
  },
  {
    name: 'A7',
    promise: 'a process that exits ends its writes first',
    seconds: about(15, 15),
    ...tests(['packages/engine/dist/test/stores/exit-drain.long.test.js'], { SALLYPORT_FAULT_EXITS: '6' }),
  },
  {
    name: 'A8',
    promise: 'clients of HTTP/2 that leave at six moments: nothing stays behind',
    seconds: about(60, 30),
    ...onProxy(faultHttp2Aborts),
  },
  {
    name: 'A9',
    promise: 'wrong frames of HTTP/2 within requests: all that they held is back within 15 s',
    seconds: about(60, 40),
    ...onProxy(faultHttp2Breaks),
  },
  {
    name: 'A10',
    promise: 'odd answers of an origin: none ends the process, both versions of HTTP get the same',
    seconds: about(60, 30),
    ...onProxy(faultAnswers),
  },
  {
    name: 'A11',
    promise: 'first bytes of strangers, 64 KB in any pieces: 5 ms each, and others are answered',
    seconds: about(60, 20),
    ...onProxy(faultFirstBytes),
  },
  {
    name: 'A12',
    promise: 'twelve clients hold all that they can: another one is served, each time',
    seconds: about(90, 90),
    ...onProxy(faultFair),
  },
  {
    name: 'A13',
    promise: 'forty people behind one address beside senders of wrong solutions: each has a pass at once',
    seconds: about(75, 25),
    ...onProxy(faultChallenged),
  },
  {
    name: 'R20',
    promise: 'a configuration that is empty, half-written or away while clients ask: no rule is lost',
    seconds: about(75, 30),
    run: faultReloads,
  },
  {
    name: 'R21',
    promise: 'authorities that are silent or have no end: memory is bounded, SIGTERM ends it',
    seconds: about(50, 20),
    run: faultAuthorities,
  },
  {
    name: 'R22',
    promise:
      'the tally is exact against the log, over 4 workers, a kill and a reload; a kill under load loses 10 s at most',
    seconds: about(240, 240),
    ...tests(['packages/sallyport/dist/test/cli/tally.long.test.js'], {
      SALLYPORT_FAULT_TALLY: String(numberFlag('tally-requests', 200_000)),
    }),
  },
]
