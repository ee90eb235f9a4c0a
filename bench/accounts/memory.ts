import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { DAY_MS, rememberLogin, type Sighting, type UserMemory } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { makeRequest } from '../browser.ts'
import { counted, type Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { scratch } from '../scratch.ts'

const START = Date.UTC(2026, 9, 1)
const MILLION = 1_000_000

/** Measures the disk space of a million users: with a home, a phone and an office each, and with the most that is kept. */
export async function benchUserMemory(run: Run): Promise<void> {
  const kinds = {
    'three networks': [3, 1, 2],
    most: [20, 10, 10],
  } as const
  const figures: Figure[] = []
  for (const [name, [networks, countries, browsers]] of Object.entries(kinds)) {
    const text = JSON.stringify(makeMemory(networks, countries, browsers))
    const bytes = await measureFile(text, run.pick(100_000, 2_000))
    figures.push({ case: name, what: 'a user', unit: 'bytes', value: counted(text.length) })
    figures.push({ case: name, what: 'a million in SQLite', unit: 'MB', value: counted((bytes * MILLION) / 2 ** 20) })
  }
  run.table({ title: 'Memory of users', figures })
}

function makeMemory(networks: number, countries: number, browsers: number): UserMemory | undefined {
  let memory: UserMemory | undefined
  for (let at = 0; at < networks; at++) {
    const sighting: Sighting = {
      at: START + at * DAY_MS,
      network: `AS${20_000 + at}`,
      country: `D${String.fromCharCode(65 + (at % countries))}`,
      browser: `${at % browsers}irefox Windows`,
      place: {
        at: START,
        latitude: 52.5241,
        longitude: 13.4105,
        accuracy: 150,
        country: 'DE',
        city: 'Berlin',
        network: 'AS3320 Deutsche Telekom AG',
        confidence: 0.93,
        isPublished: false,
      },
    }
    memory = rememberLogin(memory, sighting)
  }
  return memory
}

/** Returns the bytes of a file for each of so many users. */
async function measureFile(text: string, count: number): Promise<number> {
  return scratch(async (dataDir) => {
    const sallyport = await open({ dataDir, data: { refresh: false, city: false }, policy: { preset: 'observe' } })
    // Creates the table.
    const decision = sallyport.decide(makeRequest({ peer: '192.0.2.7' }))
    await sallyport.accounts.assess({ sallyport: decision }, { event: 'login', user: 'none' })
    await sallyport.close()
    const path = join(dataDir, 'logins.db')
    const database = new DatabaseSync(path)
    const insert = database.prepare('INSERT INTO login VALUES (?, ?, ?)')
    database.exec('BEGIN')
    for (let at = 0; at < count; at++) {
      const key = Buffer.from(`${(at * 7_919) % count}`.padStart(16, 'x')).toString('base64url')
      insert.run(key, text, START + at)
    }
    database.exec('COMMIT')
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    return statSync(path).size / count
  })
}
