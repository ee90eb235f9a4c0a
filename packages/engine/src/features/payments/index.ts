import type { Feature } from '#service'
import { keys } from './keys.ts'

export { createPayments, type OfferedRequest, type Payments } from './payments.ts'

/** Receipts of clients for what rules offer, and the port that takes them. */
export const feature: Feature<typeof keys> = { keys }
