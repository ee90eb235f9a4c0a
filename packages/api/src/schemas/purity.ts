import { GRADES, PURITY_VERDICTS } from '@sallyport/core'
import { z } from 'zod'

/** Specification: Purity, a composite cleanliness score; higher is cleaner. */
export const Purity = z
  .object({
    score: z.int().min(0).max(100),
    grade: z.enum(GRADES),
    verdict: z.enum(PURITY_VERDICTS),
    deductions: z.array(
      z.object({
        factor: z.string(),
        points: z.int().meta({ description: 'Negative for a deduction.' }),
        detail: z.string(),
      }),
    ),
  })
  .meta({ id: 'Purity' })
export type Purity = z.output<typeof Purity>
