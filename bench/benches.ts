import type { Bench } from './report/run.ts'

/** Every bench, loaded when it is run, with about how many seconds a full and a quick run take. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  lookup: { measure: async (run) => (await import('./lookup.ts')).benchLookup(run), seconds: [170, 20] },
  inspect: { measure: async (run) => (await import('./inspect.ts')).benchInspect(run), seconds: [20, 7] },
  policy: { measure: async (run) => (await import('./policy.ts')).benchPolicy(run), seconds: [40, 15] },
  frameworks: { measure: async (run) => (await import('./frameworks.ts')).benchFrameworks(run), seconds: [1_700, 40] },
  proxy: { measure: async (run) => (await import('./proxy/proxy.ts')).benchProxy(run), seconds: [1_600, 70] },
  limits: { measure: async (run) => (await import('./limits.ts')).benchLimits(run), seconds: [1_000, 19] },
  challenge: {
    measure: async (run) => (await import('./challenge/challenge.ts')).benchChallenge(run),
    seconds: [240, 40],
  },
  // Sizes and memory are not changed by other programs; the page says how busy the machine was for the seconds.
  installs: {
    measure: async (run) => (await import('./installs.ts')).benchInstalls(run),
    seconds: [200, 40],
    counts: true,
  },
  startup: { measure: async (run) => (await import('./startup.ts')).benchStartup(run), seconds: [190, 30] },
  accuracy: {
    measure: async (run) => (await import('./accuracy/accuracy.ts')).benchAccuracy(run),
    seconds: [120, 30],
    counts: true,
  },
  regions: {
    measure: async (run) => (await import('./accuracy/regions.ts')).benchRegions(run),
    seconds: [30, 30],
    counts: true,
  },
  accounts: {
    measure: async (run) => (await import('./accounts/accounts.ts')).benchAccounts(run),
    seconds: [120, 30],
    counts: true,
  },
  assess: {
    measure: async (run) => (await import('./accounts/cost.ts')).benchAssess(run),
    seconds: [60, 10],
  },
  behaviour: {
    measure: async (run) => (await import('./behaviour.ts')).benchBehaviour(run),
    seconds: [3_600, 1],
    counts: true,
  },
}
