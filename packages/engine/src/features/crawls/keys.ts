import { z } from 'zod'
import { key } from '#settings'

export const keys = {
  crawls: key(
    z.union([z.literal(false), z.enum(['pattern', 'path'])]).default(false),
    'Whether the ledger records crawled pages, by path pattern or path',
    'pattern',
  ),
}
