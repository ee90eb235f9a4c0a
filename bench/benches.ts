import { benchAccuracy } from './accuracy/accuracy.ts'
import { benchAgents } from './agents.ts'
import { benchCounting } from './counting.ts'
import { benchCrawlers } from './crawlers.ts'
import { benchFrameworks, benchInstructions } from './frameworks.ts'
import { benchImports } from './imports.ts'
import { benchInspect } from './inspect.ts'
import { benchLedger } from './ledger.ts'
import { benchLimits } from './limits.ts'
import { benchLookup } from './lookup.ts'
import { benchPolicy } from './policy.ts'
import { benchConnections } from './proxy/connections.ts'
import { benchConsole } from './proxy/console.ts'
import { benchLog } from './proxy/log.ts'
import { benchProxy } from './proxy/proxy.ts'
import { benchTls } from './proxy/tls.ts'
import { benchReload } from './reload.ts'
import type { Bench } from './report/run.ts'
import { benchStartup } from './startup.ts'
import { benchWhois } from './whois/whois.ts'

/** Every bench, with about how many seconds a full and a quick run take. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  lookup: { measure: benchLookup, seconds: [170, 20] },
  inspect: { measure: benchInspect, seconds: [20, 7] },
  policy: { measure: benchPolicy, seconds: [40, 2] },
  agents: { measure: benchAgents, seconds: [50, 2] },
  crawlers: { measure: benchCrawlers, seconds: [95, 12] },
  frameworks: { measure: benchFrameworks, seconds: [2_200, 20] },
  instructions: { measure: benchInstructions, seconds: [1_500, 0] },
  imports: { measure: benchImports, seconds: [60, 9] },
  proxy: { measure: benchProxy, seconds: [570, 18] },
  connections: { measure: benchConnections, seconds: [480, 6] },
  tls: { measure: benchTls, seconds: [190, 15] },
  log: { measure: benchLog, seconds: [130, 11] },
  console: { measure: benchConsole, seconds: [160, 22] },
  limits: { measure: benchLimits, seconds: [1_000, 19] },
  counting: { measure: benchCounting, seconds: [120, 7] },
  ledger: { measure: benchLedger, seconds: [150, 7] },
  startup: { measure: benchStartup, seconds: [100, 13] },
  reload: { measure: benchReload, seconds: [60, 12] },
  accuracy: { measure: benchAccuracy, seconds: [120, 30] },
  whois: { measure: benchWhois, seconds: [60, 3] },
}
