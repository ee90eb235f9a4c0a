import type { Ban, BanList, Clock } from '@sallyport/core'
import type { Config } from '../config/schema.ts'
import type { Outbound } from '../outbound.ts'
import { createCrowdsecExport } from './crowdsec.ts'
import { createCrowdsecApi } from './crowdsec-api.ts'
import { type ExportedBan, exportedBan, exportedBans } from './exported-ban.ts'
import { createNftablesExport } from './nftables.ts'
import { createStanding, type StandingHooks } from './standing.ts'

/** How soon a ban of another process, or one that was lifted, is exported. */
const LOOK_MS = 1_000
/** After a look so many times its own time is left to others: with many bans it takes long. */
const REST_FACTOR = 20
/** Bans that are made at the same time are sent together. */
const GATHER_MS = 50

export interface BanExportPorts extends StandingHooks {
  readonly clock: Clock
  readonly bans: Pick<BanList, 'list'>
  readonly outbound: Pick<Outbound, 'feeds'>
  /** The configuration in force. */
  readonly config: () => Pick<Config, 'mode' | 'policy'>
  readonly onFault: (error: unknown) => void
  /** Whether this process keeps the set of the firewall now, for all that share the bans (D587); absent: it does. */
  readonly leads?: (() => boolean) | undefined
}

/** The bans of a service for others: a firewall, CrowdSec, and programs that read a list. No request waits for it. */
export interface BanExport {
  /** A ban was made here; returns it where others may carry it out. */
  made(ban: Ban): ExportedBan | undefined
  /** Addresses and networks, one each. */
  list(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Exports the bans of all processes that share them; `options` as they were at the start. */
export function openBanExport({ export: options }: Config['bans'], ports: BanExportPorts): BanExport {
  const { clock, bans, outbound, config, onFault, leads = () => true } = ports
  const { nftables, crowdsec } = options
  const closing = new AbortController()
  const firewall =
    nftables === undefined ? undefined : createNftablesExport(nftables, clock, createStanding('nftables', ports))
  const decisions =
    crowdsec &&
    createCrowdsecExport({
      api: createCrowdsecApi(crowdsec, outbound.feeds, closing.signal),
      clock,
      standing: createStanding('crowdsec', ports),
    })
  let timer: NodeJS.Timeout | undefined
  /** Milliseconds of the monotonic clock: when the next look begins, and before when none may. */
  let dueAt = Number.POSITIVE_INFINITY
  let restUntil = 0
  let isLooking = false
  /** A ban was made during a look, which may not have seen it. */
  let isAsked = false
  let closed = false
  let isFailing = false

  const exported = async () => exportedBans(await bans.list(), config())
  async function look(): Promise<void> {
    const began = performance.now()
    dueAt = Number.POSITIVE_INFINITY
    isLooking = true
    try {
      const isLeader = leads()
      if (decisions === undefined && !isLeader) return
      const now = await exported()
      isFailing = false
      if (closed) return
      decisions?.follow(now)
      if (isLeader) void firewall?.follow(now)
    } catch (error) {
      if (!isFailing) onFault(error)
      isFailing = true
    } finally {
      isLooking = false
      const ended = performance.now()
      restUntil = ended + (ended - began) * REST_FACTOR
      lookIn(isAsked ? GATHER_MS : LOOK_MS)
      isAsked = false
    }
  }
  /** Keeps a look that begins sooner: bans that come one after the other must not put it off. */
  function lookIn(milliseconds: number): void {
    const now = performance.now()
    const at = Math.max(now + milliseconds, restUntil)
    if (closed || at >= dueAt) return
    clearTimeout(timer)
    dueAt = at
    timer = setTimeout(look, at - now).unref()
  }

  if (firewall || decisions) lookIn(LOOK_MS)
  return {
    made(ban) {
      const one = exportedBan(ban, config())
      if (one === undefined) return undefined
      decisions?.put(one)
      if (firewall && leads()) {
        if (isLooking) isAsked = true
        else lookIn(GATHER_MS)
      }
      return one
    },
    list: async () => [...(await exported()).keys()],
    async close() {
      closed = true
      clearTimeout(timer)
      firewall?.close()
      await decisions?.close()
      closing.abort()
    },
  }
}
