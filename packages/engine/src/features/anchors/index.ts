import type { Feature } from '#service'
import { anchorWarnings, examineAnchors } from './examine.ts'
import { keys } from './keys.ts'

export { createStamper } from './stamper.ts'

/** Has authorities stamp the ledger's checkpoints, and witnesses cosign them. */
export const feature: Feature<typeof keys> = {
  keys,
  warnings: anchorWarnings,
  examine: examineAnchors,
}
