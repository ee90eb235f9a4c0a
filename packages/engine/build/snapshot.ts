import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { makeSnapshot } from './make-snapshot.ts'

/* Makes the lists that come with a release. Without a network a release has those of its packages alone, and says so. */

const folder = join(dirname(createRequire(import.meta.url).resolve('@sallyport/data/package.json')), 'snapshot')
const { sources, missing } = await makeSnapshot(folder)
for (const { id, reason } of missing) process.stderr.write(`${id}: ${reason}\n`)
const megabytes = sources.reduce((sum, { size }) => sum + size, 0) / 1e6
if (sources.length === 0) {
  rmSync(folder, { recursive: true })
  process.stdout.write('No list could be fetched: the release ships the tables of its packages alone.\n')
} else {
  process.stdout.write(
    `${sources.length} lists of open licences, ${megabytes.toFixed(1)} MB, come with the release; ${missing.length} could not be had.\n`,
  )
}
