import { faultAborts } from './aborts.ts'
import { faultOrigins } from './faults.ts'
import { faultLong } from './long.ts'
import { faultMixed } from './mixed.ts'
import { faultOneAddress } from './one-address.ts'
import { faultPipelining } from './pipelining.ts'
import { type Place, withPlace } from './scene.ts'
import { faultSlow } from './slow.ts'
import { faultSteady } from './steady.ts'

/*
 * `npm run fault:proxy`, or `npm run fault:proxy -- slow long` for some of it: what attackers and failing origins do to
 * the proxy. Each promise that does not hold is said, and the exit code is 1. It needs Linux, whose loopback network has
 * many addresses.
 */
const FAULTS: Readonly<Record<string, (place: Place) => Promise<readonly string[]>>> = {
  slow: faultSlow,
  pipelining: faultPipelining,
  'one-address': faultOneAddress,
  long: faultLong,
  origins: faultOrigins,
  aborts: faultAborts,
  steady: faultSteady,
  mixed: faultMixed,
}

const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = asked.find((name) => !(name in FAULTS))
if (unknown !== undefined) throw new Error(`no fault "${unknown}": ${Object.keys(FAULTS).join(', ')}`)
if (process.platform !== 'linux') console.log('skipped: these runs need Linux')
else {
  await withPlace(async (place) => {
    for (const [name, fault] of Object.entries(FAULTS)) {
      if (asked.length > 0 && !asked.includes(name)) continue
      for (const broken of await fault(place)) {
        console.error(`broken: ${broken}`)
        process.exitCode = 1
      }
    }
  })
}
