import { z } from 'zod'
import { key } from '#settings'

const Bans = z.strictObject({
  export: z
    .strictObject({
      list: key(
        z.boolean().default(false),
        'Whether GET /bans.txt of the admin listener lists the bans, one a line',
        true,
      ),
    })
    .prefault({})
    .describe('Other programs that carry out the bans'),
})

/** Keys of bans for others to carry out. */
export const keys = { bans: Bans.prefault({}).describe("Bans of the policy's strikes") }
