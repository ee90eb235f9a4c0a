import {
  type Behaviour,
  type Clock,
  createBehaviour,
  type Observe,
  type SiteFinder,
  type VisitEvent,
} from '@sallyport/core'
import { replaceFile } from '#files'
import { dailyKey } from '#log'
import { isReadOnly } from '#service'
import type { Settings } from '#settings'
import { habitsFile, readKeptHabits } from './habits-file.ts'
import type { BehaviourConfig } from './keys.ts'
import { openSharedVisits } from './shared-visits.ts'
import { createSites } from './sites.ts'

/** How often what was learnt is written, and lasts at a crash, in milliseconds. */
const WRITE_MS = 60_000

/** It reads these settings, as they are in force. */
export type BehaviourSettings = BehaviourConfig & Pick<Settings, 'dataDir' | 'data' | 'redis' | 'routes'>

export interface BehaviourPorts {
  readonly clock: Clock
  readonly onFault: (error: unknown) => void
  /** Requests were recorded or made up: nothing is kept. */
  readonly isTrial: boolean
  /** Returns the configuration in force. */
  readonly current: () => BehaviourSettings
}

type Send = (events: readonly VisitEvent[]) => void

/** The parts of an inspector that read what visitors do. */
export interface BehaviourEvidence {
  readonly behaviour?: Pick<Behaviour, 'find'>
  readonly siteOf?: SiteFinder | undefined
}

/** What visitors do, for as long as a service is open. */
export interface ServiceBehaviour extends Pick<Behaviour, 'habits' | 'size'> {
  /** Returns the evidence that an inspector of a configuration reads: none where the configuration turns it off. */
  readEvidence(config: BehaviourSettings): BehaviourEvidence
  /** Counts a request that has ended. */
  readonly observe: Observe
  /** Hands what is counted here to the workers of this machine, in batches, unless all processes share it in Redis. */
  share(send: Send): void
  /** Counts what another worker has counted. */
  readonly takeAll: Send
  close(): Promise<void>
}

/** Opens the memory of what visitors do; it goes on with what people did on the site before a restart. */
export function openBehaviour(
  config: BehaviourSettings,
  { clock, onFault, isTrial, current }: BehaviourPorts,
): ServiceBehaviour {
  const keeps = !isTrial && !config.data.readOnly && !isReadOnly(config.dataDir)
  const file = habitsFile(config.dataDir)
  let [routes, siteOf] = [config.routes, createSites(config.routes)]
  let seed = dailyKey(keeps ? config.dataDir : undefined)(clock.now()).readInt32LE(0)
  const behaviour = createBehaviour({
    seed: () => seed,
    kept: keeps ? readKeptHabits(file) : [],
  })
  const onSeed = (common: number): void => {
    seed = common
  }
  const takeAll: Send = (events) => {
    for (const event of events) behaviour.take(event)
  }
  const redis = isTrial ? undefined : config.redis
  const shared = redis === undefined ? undefined : openSharedVisits(redis, { onSeed, takeAll })
  let send: Send | undefined = shared?.send
  let waiting: VisitEvent[] = []
  let written = JSON.stringify(behaviour.kept)

  async function write(): Promise<void> {
    const text = JSON.stringify(behaviour.kept)
    if (text === written) return
    written = text
    await replaceFile(file, text).catch(onFault)
  }

  function flush(): void {
    send?.(waiting)
    waiting = []
  }

  const timer = keeps ? setInterval(() => void write(), WRITE_MS).unref() : undefined
  return {
    readEvidence: ({ behaviour: isOn, routes }) => (isOn ? { behaviour, siteOf: createSites(routes) } : {}),
    observe(observed) {
      const { behaviour: isOn, routes: now } = current()
      if (!isOn || observed.answeredBy === 'event') return
      if (now !== routes) [routes, siteOf] = [now, createSites(now)]
      const event = behaviour.record(observed, siteOf)
      if (event === undefined || send === undefined) return
      if (waiting.push(event) === 1) setTimeout(flush, SHARE_MS).unref()
    },
    share(by) {
      if (shared === undefined) send = by
    },
    takeAll,
    get habits() {
      return behaviour.habits
    },
    size: behaviour.size,
    async close() {
      clearInterval(timer)
      shared?.close()
      if (keeps) await write()
    },
  }
}

/** Other processes hear of requests so late, in milliseconds. */
const SHARE_MS = 50
