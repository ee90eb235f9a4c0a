import type { Feature } from '#service'
import { examineBehaviour } from './examine.ts'
import { keys } from './keys.ts'

export { openBehaviour, type ServiceBehaviour } from './service-behaviour.ts'

/** What visitors do in a visit, as evidence. */
export const feature: Feature<typeof keys> = { keys, examine: examineBehaviour }
