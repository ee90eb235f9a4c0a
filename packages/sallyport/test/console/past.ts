import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

/** Requests of an hour, in a day that has a night. */
function weighHour(hour: number): number {
  return 1 + Math.round(3 + 3 * Math.sin(((hour % 24) / 24) * 2 * Math.PI) + ((hour * 7) % 3))
}

/** Copies the counts of the last hour into hours before it; `weight` says how many times as many came so far back. */
export function countAlsoBefore(dataDir: string, hours: readonly number[] | number, weight = weighHour): void {
  const listed = typeof hours === 'number' ? Array.from({ length: hours }, (_, index) => index + 1) : hours
  const database = new DatabaseSync(join(dataDir, 'tally.db'))
  try {
    database.exec('PRAGMA busy_timeout = 5000')
    const rows = database.prepare('SELECT * FROM tally').all() as readonly Readonly<Record<string, unknown>>[]
    const newest = Math.max(...rows.map(({ hour }) => Number(hour)))
    const add = database.prepare('INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
    database.exec('BEGIN IMMEDIATE')
    for (const back of listed)
      for (const { hour, policy, subject, labels, requests, bytes, pages, people } of rows) {
        if (Number(hour) !== newest) continue
        const times = weight(back)
        const counts = [requests, bytes, pages].map((count) => Number(count) * times)
        add.run(newest - back, policy, subject, labels, ...counts, people)
      }
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}
