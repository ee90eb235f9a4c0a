import { benchFrameworks } from './frameworks.ts'
import { benchInspect } from './inspect.ts'
import { run as benchLookup } from './lookup.ts'

/* `npm run bench`, or `npm run bench -- lookup inspect frameworks` for some of it. Read the ratios: machines differ. */
const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  lookup: benchLookup,
  inspect: benchInspect,
  frameworks: benchFrameworks,
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !(name in BENCHES))
if (unknown !== undefined) throw new Error(`no bench "${unknown}": ${Object.keys(BENCHES).join(', ')}`)
for (const [name, bench] of Object.entries(BENCHES)) if (asked.length === 0 || asked.includes(name)) await bench()
