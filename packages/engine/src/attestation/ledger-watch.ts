import { errorText } from '@sallyport/core'
import type { RaiseEvent } from '#service'

/** Work of a ledger that may fail. */
export type Part = keyof typeof TEXTS

const TEXTS = {
  records: ['The ledger stores no records', 'The ledger stores records again.'],
  checkpoints: ['Records of the ledger are not signed', 'Records of the ledger are signed again.'],
  timestamps: ['Checkpoints of the ledger get no timestamps', 'Checkpoints of the ledger get timestamps again.'],
  erasure: ['Expired addresses are not erased from the ledger', 'The ledger erases addresses again.'],
} as const

/** Raises `ledger` when a part of its work fails that did not before, and when it works again. */
export function watchLedger(raise: RaiseEvent) {
  const failing = new Set<Part>()
  return {
    failed(part: Part, error: unknown): void {
      if (failing.has(part)) return
      failing.add(part)
      const why = errorText(error)
      raise({ kind: 'ledger', about: part, text: `${TEXTS[part][0]}: ${why.replace(/\.$/, '')}.` })
    },
    worked(part: Part): void {
      if (failing.delete(part)) raise({ kind: 'ledger', about: part, over: true, text: TEXTS[part][1] })
    },
  }
}
