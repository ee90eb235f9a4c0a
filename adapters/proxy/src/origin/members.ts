import type { OriginAddress } from './address.ts'
import type { OriginConnections } from './connections.ts'
import type { OriginTurns } from './turns.ts'

/** Milliseconds that never go back. */
interface Clock {
  now(): number
}

const systemClock: Clock = performance

/** So many failures in a row leave a server out, the first time for so long, then for twice as long each time. */
const FAILURES = 3
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 300_000

/** One server of an origin. */
export interface Member {
  readonly address: OriginAddress
  readonly connections: OriginConnections
  /** It takes requests: it answers its health checks, and is not left out. */
  readonly up: boolean
  /** It has answered. */
  succeeded(): void
  /** It could not be reached, or gave no usable answer. */
  failed(): void
  /** Takes the result of a health check. */
  checked(healthy: boolean): void
}

/** The servers of an origin. */
export interface Members {
  readonly all: readonly Member[]
  /** The next one in turn that is up; where none is, the next one all the same; `undefined` where all were tried. */
  next(tried?: ReadonlySet<Member>): Member | undefined
}

export interface MembersOptions {
  readonly clock?: Clock | undefined
  /** A line for the operator. */
  readonly onNotice?: ((message: string) => void) | undefined
  /** Learns which servers take no requests. */
  readonly turns?: OriginTurns | undefined
}

export function createMembers(
  servers: readonly { readonly address: OriginAddress; readonly connections: OriginConnections }[],
  { clock = systemClock, onNotice = () => {}, turns }: MembersOptions = {},
): Members {
  const all = servers.map((server) => createMember(server, { clock, onNotice, turns }))
  let turn = 0
  return {
    all,
    next(tried) {
      let fallback: Member | undefined
      for (let step = 0; step < all.length; step++) {
        const member = all[(turn + step) % all.length] as Member
        if (tried?.has(member)) continue
        if (member.up) {
          turn = (turn + step + 1) % all.length
          return member
        }
        fallback ??= member
      }
      turn = (turn + 1) % all.length
      return fallback
    },
  }
}

interface MemberHooks extends Pick<MembersOptions, 'turns'> {
  readonly clock: Clock
  readonly onNotice: (message: string) => void
}

function createMember(
  { address, connections }: Pick<Member, 'address' | 'connections'>,
  { clock, onNotice, turns }: MemberHooks,
): Member {
  let failures = 0
  let pause = FIRST_PAUSE_MS
  let outUntil = 0
  let healthy = true
  return {
    address,
    connections,
    get up() {
      return healthy && clock.now() >= outUntil
    },
    succeeded() {
      failures = 0
      pause = FIRST_PAUSE_MS
      if (healthy) turns?.works(address.text)
    },
    failed() {
      failures++
      if (failures < FAILURES || clock.now() < outUntil) return
      outUntil = clock.now() + pause
      onNotice(`the origin ${address.text} has failed ${failures} times in a row: left out for ${pause / 1_000} s`)
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
      turns?.fails(address.text, `${FAILURES} failures in a row`)
    },
    checked(now) {
      if (now !== healthy)
        onNotice(`the origin ${address.text} ${now ? 'answers its health checks again' : 'fails its health checks'}`)
      healthy = now
      if (!now) turns?.fails(address.text, 'health checks')
      else if (clock.now() >= outUntil) turns?.works(address.text)
    },
  }
}
