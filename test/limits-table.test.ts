import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Limits, Timeouts } from '@sallyport/open/limits'
import t from 'tap'

/* README.md has one table of what bounds the proxy. It says what the schema says, of every key and of no other. */
const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')

const KEYS = Object.entries({ limits: Limits, timeouts: Timeouts }).flatMap(([section, schema]) =>
  Object.entries(schema.shape).map(([key, value]) => {
    const { unit, least, most, initial, description } = value.meta() as Readonly<Record<string, string>>
    return `| \`${section}.${key}\` | ${initial} | ${least} to ${most} | ${unit} | ${description} |`
  }),
)

t.test('the table of limits and time-outs says what the schema says', async (t) => {
  const rows = README.split('\n').filter((line) => /^\| `(?:limits|timeouts)\./.test(line))
  t.strictSame(rows, KEYS)
})

t.test('and the bounds in it hold', async (t) => {
  const wrong: string[] = []
  for (const [section, schema] of Object.entries({ limits: Limits, timeouts: Timeouts })) {
    for (const [key, value] of Object.entries(schema.shape)) {
      const { unit, least, most, initial } = value.meta() as Readonly<Record<string, string>>
      const read = (text: string) => (unit === 'time' ? text : Number(text))
      const parse = (given: unknown) => schema.safeParse({ [key]: given })
      const beyond = unit === 'time' ? 1e12 : Number(most) + 1
      const below = unit === 'time' ? -1 : Number(least) - 1
      const holds =
        [least, most, initial].every((text) => parse(read(text as string)).success) &&
        [beyond, below, 'often', null, Number.NaN].every((given) => !parse(given).success) &&
        (schema.parse({}) as Readonly<Record<string, unknown>>)[key] ===
          (schema.parse({ [key]: read(initial as string) }) as Readonly<Record<string, unknown>>)[key]
      if (!holds) wrong.push(`${section}.${key}`)
    }
  }
  t.same(wrong, [])
})
