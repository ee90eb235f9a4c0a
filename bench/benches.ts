import type { Bench } from './report/run.ts'

/** Every bench, loaded when it is run, with about how many seconds a full and a quick run take. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  lookup: makeBench(async (run) => (await import('./lookup.ts')).benchLookup(run), 170, 20),
  inspect: makeBench(async (run) => (await import('./inspect.ts')).benchInspect(run), 20, 7),
  policy: makeBench(async (run) => (await import('./policy.ts')).benchPolicy(run), 40, 15),
  frameworks: makeBench(async (run) => (await import('./frameworks.ts')).benchFrameworks(run), 1_700, 40),
  proxy: makeBench(async (run) => (await import('./proxy/proxy.ts')).benchProxy(run), 1_800, 80),
  limits: makeBench(async (run) => (await import('./limits.ts')).benchLimits(run), 1_000, 19),
  challenge: makeBench(async (run) => (await import('./challenge/challenge.ts')).benchChallenge(run), 240, 40),
  // Sizes and memory are not changed by other programs; the page says how busy the machine was for the seconds.
  installs: makeBench(async (run) => (await import('./installs.ts')).benchInstalls(run), 200, 40, true),
  startup: makeBench(async (run) => (await import('./startup.ts')).benchStartup(run), 190, 30),
  accuracy: makeBench(async (run) => (await import('./accuracy/accuracy.ts')).benchAccuracy(run), 120, 30, true),
  regions: makeBench(async (run) => (await import('./accuracy/regions.ts')).benchRegions(run), 30, 30, true),
  accounts: makeBench(async (run) => (await import('./accounts/accounts.ts')).benchAccounts(run), 120, 30, true),
  assess: makeBench(async (run) => (await import('./accounts/cost.ts')).benchAssess(run), 60, 10),
  behaviour: makeBench(async (run) => (await import('./behaviour.ts')).benchBehaviour(run), 3_600, 1, true),
}

function makeBench(measure: Bench['measure'], full: number, quick: number, counts?: true): Bench {
  return { measure, seconds: [full, quick], counts }
}
