import type { PaymentProvider } from '@sallyport/core'

/** Accepts each promise of a proven crawler, and bills no client: the demo moves no money. */
export const DEMO_PAYMENTS: PaymentProvider = {
  accept: async (_receipt, _offer, { id }) => ({ accepted: true, receipt: `demo-${id.slice(0, 8)}` }),
}
