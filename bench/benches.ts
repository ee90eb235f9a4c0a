import type { Bench } from './report/run.ts'

/** Every bench, loaded when it is run, with about how many seconds a full and a quick run take. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  lookup: { measure: async (run) => (await import('./lookup.ts')).benchLookup(run), seconds: [170, 20] },
  inspect: { measure: async (run) => (await import('./inspect.ts')).benchInspect(run), seconds: [20, 7] },
  policy: { measure: async (run) => (await import('./policy.ts')).benchPolicy(run), seconds: [40, 2] },
  agents: { measure: async (run) => (await import('./agents.ts')).benchAgents(run), seconds: [50, 2] },
  crawlers: { measure: async (run) => (await import('./crawlers.ts')).benchCrawlers(run), seconds: [95, 12] },
  frameworks: { measure: async (run) => (await import('./frameworks.ts')).benchFrameworks(run), seconds: [2_200, 20] },
  instructions: {
    measure: async (run) => (await import('./frameworks.ts')).benchInstructions(run),
    seconds: [1_500, 0],
  },
  imports: { measure: async (run) => (await import('./imports.ts')).benchImports(run), seconds: [60, 9] },
  proxy: { measure: async (run) => (await import('./proxy/proxy.ts')).benchProxy(run), seconds: [570, 18] },
  connections: {
    measure: async (run) => (await import('./proxy/connections.ts')).benchConnections(run),
    seconds: [480, 6],
  },
  tls: { measure: async (run) => (await import('./proxy/tls.ts')).benchTls(run), seconds: [190, 15] },
  log: { measure: async (run) => (await import('./proxy/log.ts')).benchLog(run), seconds: [130, 11] },
  console: { measure: async (run) => (await import('./proxy/console.ts')).benchConsole(run), seconds: [160, 14] },
  limits: { measure: async (run) => (await import('./limits.ts')).benchLimits(run), seconds: [1_000, 19] },
  counting: { measure: async (run) => (await import('./counting.ts')).benchCounting(run), seconds: [120, 7] },
  ledger: { measure: async (run) => (await import('./ledger.ts')).benchLedger(run), seconds: [150, 7] },
  startup: { measure: async (run) => (await import('./startup.ts')).benchStartup(run), seconds: [100, 13] },
  reload: { measure: async (run) => (await import('./reload.ts')).benchReload(run), seconds: [60, 12] },
  accuracy: { measure: async (run) => (await import('./accuracy/accuracy.ts')).benchAccuracy(run), seconds: [120, 30] },
  whois: { measure: async (run) => (await import('./whois/whois.ts')).benchWhois(run), seconds: [60, 3] },
}
