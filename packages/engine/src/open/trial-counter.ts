import type { Clock, Counter } from '@sallyport/core'
import { type ConfigInput, parseConfig } from '#config/service'
import { listNames } from '#features/lists'
import { createCounting } from '#service'
import { toRules } from './reload.ts'

/** Counts of its own in memory, by another clock: for requests that were recorded or made up. */
export function createTrialCounter(options: ConfigInput, clock: Clock): Counter {
  const config = parseConfig(options)
  const memory = { ...config, counting: { ...config.counting, place: 'memory' as const } }
  const onFault = (error: unknown): never => {
    throw error
  }
  return createCounting(memory, { clock, onFault }).counterOf(toRules(config, { lists: listNames(config) }))
}
