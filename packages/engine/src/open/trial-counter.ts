import type { Clock, Counter } from '@sallyport/core'
import { type ConfigInput, parseConfig } from '#config/service'
import { listNames } from '#features/lists'
import type { EventRules } from '#features/logins'
import { createCounting } from '#service'
import { createCounters, toRules } from './reload.ts'

/** Counts of its own in memory, by another clock: for requests and events that were recorded or made up. */
export function createTrialCounter(options: ConfigInput, clock: Clock): Counter & { readonly events: EventRules } {
  const config = parseConfig(options)
  const memory = { ...config, counting: { ...config.counting, place: 'memory' as const } }
  const onFault = (error: unknown): never => {
    throw error
  }
  const { makeCounter } = createCounting(memory, { clock, onFault })
  const rules = toRules(config, { lists: listNames(config) })
  const { counter, events } = createCounters(rules, makeCounter)
  return { ...counter, events }
}
