import t from 'tap'
import { Limits, Timeouts } from '../../src/settings/limits.ts'

t.test('the bounds and defaults that are said of limits and time-outs hold', async (t) => {
  const wrong: string[] = []
  for (const [section, schema] of Object.entries({ limits: Limits, timeouts: Timeouts })) {
    for (const [key, value] of Object.entries(schema.shape)) {
      const { unit, least, most, initial } = value.meta() as Readonly<Record<string, string>>
      const read = (text: string) => (unit === 'time' ? text : Number(text))
      const parse = (given: unknown) => schema.safeParse({ [key]: given })
      const beyond = unit === 'time' ? 1e12 : Number(most) + 1
      const below = unit === 'time' ? -1 : Number(least) - 1
      const holds =
        [least, most, initial ?? least].every((text) => parse(read(text as string)).success) &&
        [beyond, below, 'often', null, Number.NaN].every((given) => !parse(given).success) &&
        (schema.parse({}) as Readonly<Record<string, unknown>>)[key] ===
          (schema.parse(initial === undefined ? {} : { [key]: read(initial) }) as Readonly<Record<string, unknown>>)[
            key
          ]
      if (!holds) wrong.push(`${section}.${key}`)
    }
  }
  t.same(wrong, [])
})
