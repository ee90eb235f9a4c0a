import { benchAccuracy } from './accuracy/accuracy.ts'
import { benchAgents } from './agents.ts'
import { benchCounting } from './counting.ts'
import { benchCrawlers } from './crawlers.ts'
import { benchFrameworks } from './frameworks.ts'
import { benchInspect } from './inspect.ts'
import { benchLedger } from './ledger.ts'
import { benchLimits } from './limits.ts'
import { benchLookup } from './lookup.ts'
import { benchConsole } from './proxy/console.ts'
import { benchLog } from './proxy/log.ts'
import { benchProxy } from './proxy/proxy.ts'
import { benchTls } from './proxy/tls.ts'
import { benchReload } from './reload.ts'
import { benchWhois } from './whois/whois.ts'

/* `npm run bench`, or `npm run bench -- lookup inspect` for some of it. Read the ratios: machines differ. */
const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  lookup: benchLookup,
  inspect: benchInspect,
  frameworks: benchFrameworks,
  proxy: benchProxy,
  tls: benchTls,
  log: benchLog,
  console: benchConsole,
  reload: benchReload,
  whois: benchWhois,
  crawlers: benchCrawlers,
  accuracy: benchAccuracy,
  agents: benchAgents,
  limits: benchLimits,
  counting: benchCounting,
  ledger: benchLedger,
}

const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = asked.find((name) => !(name in BENCHES))
if (unknown !== undefined) throw new Error(`no bench "${unknown}": ${Object.keys(BENCHES).join(', ')}`)
for (const [name, bench] of Object.entries(BENCHES)) if (asked.length === 0 || asked.includes(name)) await bench()
