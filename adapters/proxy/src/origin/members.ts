import type { RaiseEvent } from '@sallyport/engine'
import type { OriginAddress } from './address.ts'
import type { OriginConnections } from './connections.ts'
import { isUnreached } from './faults.ts'

/** So many failures in a row leave a server out, for the first pause and then for twice as long each time. */
const FAILURES = 3
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 300_000

/** A server that belongs to an origin. */
export type Member = ReturnType<typeof createMember>

/** Chooses among the servers of an origin. */
export type Members = ReturnType<typeof createMembers>

interface Server {
  readonly address: OriginAddress
  readonly connections: OriginConnections
}

export interface MembersOptions {
  /** Returns milliseconds that never go back. */
  readonly clock?: { now(): number } | undefined
  /** Takes a line of text, which the operator should read. */
  readonly onNotice?: ((message: string) => void) | undefined
  /** Learns which servers take no requests. */
  readonly turns?: OriginTurns | undefined
}

export function createMembers(servers: readonly Server[], options: MembersOptions = {}) {
  const pages = new FailedPages()
  const all: readonly Member[] = servers.map((server) => createMember(server, pages, options))
  let turn = 0
  return {
    all,
    /** Returns the next server in turn that is up; where none is up, the next one; `undefined` where all were tried. */
    next(tried?: ReadonlySet<Member>): Member | undefined {
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

/** Remembers pages at which servers of one origin failed since their last answers. */
class FailedPages {
  /** Holds the servers at which a page failed, and whether another server has answered it since. */
  readonly #pages = new Map<string, { readonly at: Set<string>; answered: boolean }>()

  /** Reports whether the failure of a page says something new about a server. */
  counts(server: string, target: string): boolean {
    const path = target.split('?', 1)[0] as string
    const page = this.#pages.get(path)
    if (page === undefined) {
      this.#pages.set(path, { at: new Set([server]), answered: false })
      return true
    }
    if (page.answered) return true
    const isNew = !page.at.has(server)
    page.at.add(server)
    return isNew
  }

  answered(server: string, target: string): void {
    if (this.#pages.size === 0) return
    const page = this.#pages.get(target.split('?', 1)[0] as string)
    if (page) page.answered = true
    for (const [path, { at }] of this.#pages) if (at.delete(server) && at.size === 0) this.#pages.delete(path)
  }
}

function createMember(
  { address, connections }: Server,
  pages: FailedPages,
  { clock = performance, onNotice = () => {}, turns }: MembersOptions,
) {
  let failures = 0
  let pause = FIRST_PAUSE_MS
  let outUntil = 0
  let healthy = true
  return {
    address,
    connections,
    /** Whether the server takes requests: it passes its health checks, and is not left out. */
    get up(): boolean {
      return healthy && clock.now() >= outUntil
    },
    /** Records that the server answered a request for this target. */
    succeeded(target: string): void {
      failures = 0
      pages.answered(address.text, target)
      pause = FIRST_PAUSE_MS
      if (healthy) turns?.works(address.text)
    },
    /**
     * Records that the server could not be reached, or gave no usable answer to a request for this target. A page may fail for its own
     * reasons: it counts once, unless another server of the origin answers it.
     */
    failed(error: Error, target: string): void {
      if (!isUnreached(error) && failures < FAILURES && !pages.counts(address.text, target)) return
      failures++
      if (failures < FAILURES || clock.now() < outUntil) return
      outUntil = clock.now() + pause
      onNotice(`the origin ${address.text} failed ${failures} times in a row and is skipped for ${pause / 1_000} s`)
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
      turns?.fails(address.text, `${FAILURES} failures in a row`)
    },
    /** Takes the result of a health check. */
    checked(now: boolean): void {
      if (now !== healthy)
        onNotice(`the origin ${address.text} ${now ? 'passes its health checks again' : 'fails its health checks'}`)
      healthy = now
      if (!now) turns?.fails(address.text, 'health checks')
      else if (clock.now() >= outUntil) turns?.works(address.text)
    },
  }
}

/** Tracks which servers of origins take no requests, also after a reload, which makes new members of them. */
export type OriginTurns = ReturnType<typeof createOriginTurns>

/** Raises `origin` when a server stops taking requests, and when it answers again. */
export function createOriginTurns(raise: RaiseEvent) {
  const failing = new Set<string>()
  return {
    /** Records that a server takes no requests from now on, and why. */
    fails(origin: string, reason: string): void {
      if (failing.has(origin)) return
      failing.add(origin)
      raise({ kind: 'origin', about: origin, text: `The origin ${origin} is down.`, details: { origin, reason } })
    },
    works(origin: string): void {
      // An origin asks this at each answer.
      if (failing.size === 0 || !failing.delete(origin)) return
      const text = `The origin ${origin} is up again.`
      raise({ kind: 'origin', about: origin, over: true, text, details: { origin } })
    },
  }
}
