import { z } from 'zod'
import { HTTP, key, LIVE, SECRET } from '#settings'

const Payment = z.strictObject({
  url: key(
    z.url(HTTP).optional(),
    'URL that receives each receipt by POST; absent: receipts are rejected',
    'https://pay.example/receipts',
    SECRET,
  ),
  timeoutMs: key(z.int().min(10).max(30_000).default(5_000), 'Timeout for verifying a receipt', 2_000, {
    unit: 'milliseconds',
  }),
})

/** Holds the keys of payments. */
export const keys = {
  payment: Payment.prefault({}).meta({ ...LIVE, description: 'Payments for what rules with the action offer answer' }),
}
