import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBehaviour } from '@sallyport/core'
import t from 'tap'
import { examineBehaviour } from '../../src/features/behaviour/examine.ts'
import { readKeptHabits } from '../../src/features/behaviour/habits-file.ts'

const ROW = { host: 'a.example', visits: 12, having: [12, 12, 12, 12, 3, 12, 12, 12, 12] }

/** A start reads these files of other runs and versions, and goes on with the habits of these hosts. */
const FILES: Readonly<Record<string, readonly [file: unknown, hosts: readonly string[]]>> = {
  'its own': [
    [ROW, { ...ROW, host: '' }],
    ['', 'a.example'],
  ],
  'one that names sites by a number too': [[{ site: 4_021, ...ROW }], ['a.example']],
  'one with other habits': [[ROW, { ...ROW, host: 'b.example', having: [12, 12, 12, 12] }], ['a.example']],
  'one with other members': [[{ ...ROW, visits: 'many' }], []],
  'one with too many visits': [[{ ...ROW, visits: 1e9 }], []],
  'none of ours': [{ hosts: [] }, []],
}

for (const [name, [file, hosts]] of Object.entries(FILES)) {
  t.test(`a kept file: ${name}`, async (t) => {
    const dataDir = t.testdir()
    const path = join(dataDir, 'behaviour.json')
    writeFileSync(path, JSON.stringify(file))
    const { habits } = createBehaviour({ seed: () => 1, kept: readKeptHabits(path) })
    t.same([...new Set(habits.map(({ host }) => host))].sort(), hosts)
    for (const { having, isActive } of habits) t.equal(isActive, having > 9)
    const results = await examineBehaviour({ behaviour: true, dataDir } as Parameters<typeof examineBehaviour>[0])
    const told = results.map((result) => JSON.stringify(result))
    t.equal(told.length, habits.length || 1)
    const isKnown = hosts.length > 0
    const first = /people load files with later pages \(12 of 12 visits\): its absence is a sign\./
    t.match(told[0], isKnown ? first : /signs are inactive until ten visits prove a person\./)
    if (isKnown) t.match(told.join(), /\(3 of 12 visits\): its absence is not a sign\./)
    t.notMatch(told.join(), /NaN|undefined/)
  })
}
