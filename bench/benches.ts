import { benchAccuracy } from './accuracy/accuracy.ts'
import { benchAgents } from './agents.ts'
import { benchCounting } from './counting.ts'
import { benchCrawlers } from './crawlers.ts'
import { benchFrameworks, benchInstructions } from './frameworks.ts'
import { benchInspect } from './inspect.ts'
import { benchLedger } from './ledger.ts'
import { benchLimits } from './limits.ts'
import { benchLookup } from './lookup.ts'
import { benchPolicy } from './policy.ts'
import { benchConsole } from './proxy/console.ts'
import { benchLog } from './proxy/log.ts'
import { benchProxy } from './proxy/proxy.ts'
import { benchTls } from './proxy/tls.ts'
import { benchReload } from './reload.ts'
import type { Bench } from './report/run.ts'
import { benchWhois } from './whois/whois.ts'

/** Every bench, with about how many seconds a full and a quick run take. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  lookup: { measure: benchLookup, seconds: [180, 10] },
  inspect: { measure: benchInspect, seconds: [30, 5] },
  policy: { measure: benchPolicy, seconds: [30, 3] },
  agents: { measure: benchAgents, seconds: [60, 3] },
  crawlers: { measure: benchCrawlers, seconds: [100, 8] },
  frameworks: { measure: benchFrameworks, seconds: [1_400, 25] },
  instructions: { measure: benchInstructions, seconds: [900, 20] },
  proxy: { measure: benchProxy, seconds: [600, 30] },
  tls: { measure: benchTls, seconds: [140, 10] },
  log: { measure: benchLog, seconds: [120, 10] },
  console: { measure: benchConsole, seconds: [150, 12] },
  limits: { measure: benchLimits, seconds: [900, 15] },
  counting: { measure: benchCounting, seconds: [60, 5] },
  ledger: { measure: benchLedger, seconds: [200, 8] },
  reload: { measure: benchReload, seconds: [60, 5] },
  accuracy: { measure: benchAccuracy, seconds: [120, 120] },
  whois: { measure: benchWhois, seconds: [60, 5] },
}
