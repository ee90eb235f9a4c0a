import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EntryFormat, SystemListFormat } from '@sallyport/data/sources'

/** A small made file of a format, what is in it, and what must not pass for it. */
interface FormatFixture {
  readonly format: EntryFormat
  readonly good: string
  readonly counts: readonly [ipv4: number, ipv6: number]
  readonly made?: string | undefined
  readonly bad: readonly string[]
}

interface SystemFixture {
  readonly format: SystemListFormat
  readonly good: string
  readonly systems: readonly (readonly [asn: number, label: string])[]
  readonly bad: readonly string[]
}

const FIXTURES = readFileSync(join(import.meta.dirname, '../../../test/datasets/format-fixtures.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as FormatFixture | SystemFixture)

export const FORMAT_FIXTURES = FIXTURES.filter((one): one is FormatFixture => 'counts' in one)
export const SYSTEM_FIXTURES = FIXTURES.filter((one): one is SystemFixture => 'systems' in one)
