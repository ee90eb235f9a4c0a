import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { openGate } from './gate.ts'
import { scratch } from './scratch.ts'

const ROUNDS = numberFlag('reload-rounds', 3)
const CLIENTS = 4
/** Longer than a reload waits for a file to stay the same. */
const SETTLED_MS = 3_000
const TAKEN_OVER_MS = 10_000
const RULE = { id: 'shut', match: { path: ['/shut/**'] }, action: 'block' as const }

/** Ways in which people and machines leave a file; each is put right after. */
const WAYS: Readonly<Record<string, (file: string, good: string) => Promise<unknown>>> = {
  empty: (file) => writeFile(file, ''),
  'no keys': (file) => writeFile(file, '{}'),
  commented: (file, good) => writeFile(file, good.replace(/^/gm, '# ')),
  'half of it': (file, good) => writeFile(file, good.slice(0, good.length / 2)),
  'an empty one in its place': async (file) => {
    await writeFile(`${file}.new`, '')
    await rename(`${file}.new`, file)
  },
  away: (file) => rm(file),
  'written slowly': async (file, good) => {
    await writeFile(file, '')
    for (let at = 0; at < good.length; at += good.length / 8) {
      await writeFile(file, good.slice(at, at + good.length / 8), { flag: 'a' })
      await delay(100)
    }
  },
}

/** A policy shuts a path, and its file goes through all of that while clients ask and signals come. */
export async function faultReloads(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const gate = await openGate(folder, cleanup, { config: { policy: { rules: [RULE] } } })
    const { file, pid, said } = gate.proxy
    // As people write it: a rule at the end, which a beginning of the file lacks.
    const written: Record<string, unknown> = JSON.parse(await readFile(file, 'utf8'))
    const good = `${Object.entries(written)
      .sort(([one]) => (one === 'policy' ? 1 : -1))
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
      .join('\n')}\n`
    let asking = true
    let asked = 0
    let passed = 0
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (asking) {
        const { status } = await gate.visit('/shut/door')
        asked++
        if (status !== 403) passed++
      }
    })
    const refused = (): number => said().match(/kept as it was/g)?.length ?? 0
    for (let round = 0; round < ROUNDS; round++) {
      for (const spoil of Object.values(WAYS)) {
        const working = spoil(file, good)
        process.kill(pid, 'SIGHUP')
        await working
        process.kill(pid, 'SIGHUP')
        await delay(SETTLED_MS)
        await writeFile(`${file}.good`, good)
        await copyFile(`${file}.good`, file)
      }
    }
    asking = false
    await Promise.all(clients)
    const broken = passed === 0 ? [] : [`${passed} of ${asked} requests passed a closed path`]
    if (refused() < ROUNDS) broken.push(`${refused()} reloads were refused`)
    await writeFile(file, good.replace('/shut/**', '/other/**'))
    process.kill(pid, 'SIGHUP')
    const until = performance.now() + TAKEN_OVER_MS
    while ((await gate.visit('/other/door')).status !== 403 && performance.now() < until) await delay(50)
    if ((await gate.visit('/other/door')).status !== 403) broken.push('a good file is not taken over after it')
    return { measured: `${asked} requests to a closed path, ${passed} passed; ${refused()} reloads refused`, broken }
  })
}
