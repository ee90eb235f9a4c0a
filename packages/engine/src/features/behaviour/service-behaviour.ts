import { type Behaviour, createBehaviour, type InspectorOptions, type Observe, type VisitEvent } from '@sallyport/core'
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

export interface BehaviourPorts extends Pick<InspectorOptions, 'clock'> {
  readonly onFault: (error: unknown) => void
  /** Requests were recorded or made up: nothing is kept. */
  readonly isTrial: boolean
}

type Send = (events: readonly VisitEvent[]) => void

/** Knows what visitors do, for as long as a service is open. */
export interface ServiceBehaviour extends Pick<Behaviour, 'habits' | 'size'> {
  /** Applies a configuration, and returns the evidence that its inspector reads: none where it turns behaviour off. */
  apply(config: BehaviourSettings): Pick<InspectorOptions, 'behaviour' | 'findSite'>
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
  { clock, onFault, isTrial }: BehaviourPorts,
): ServiceBehaviour {
  const keeps = !isTrial && !config.data.readOnly && !isReadOnly(config.dataDir)
  const file = habitsFile(config.dataDir)
  let [isOn, findSite] = [config.behaviour, createSites(config.routes)]
  let seed = dailyKey(keeps ? config.dataDir : undefined)(clock.now()).readInt32LE(0)
  const behaviour = createBehaviour({ seed: () => seed, kept: keeps ? readKeptHabits(file) : [] })
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
    apply(next) {
      isOn = next.behaviour
      findSite = createSites(next.routes)
      return isOn ? { behaviour, findSite } : {}
    },
    observe(observed) {
      if (!isOn || observed.answeredBy === 'event') return
      const event = behaviour.record(observed, findSite)
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
