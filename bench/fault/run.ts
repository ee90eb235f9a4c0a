import { faultCounts } from './counts.ts'
import { faultKeys } from './keys.ts'
import { faultOutages } from './outages.ts'

/*
 * `npm run fault`, or `npm run fault -- counts keys outages` for some of it: runs too heavy for the suite. Each promise
 * that does not hold is said, and the exit code is 1.
 */
const FAULTS: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  counts: faultCounts,
  keys: faultKeys,
  outages: faultOutages,
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !(name in FAULTS))
if (unknown !== undefined) throw new Error(`no fault "${unknown}": ${Object.keys(FAULTS).join(', ')}`)
for (const [name, fault] of Object.entries(FAULTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  for (const broken of await fault()) {
    console.error(`broken: ${broken}`)
    process.exitCode = 1
  }
}
