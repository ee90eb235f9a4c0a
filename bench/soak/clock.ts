import { createRequire, syncBuiltinESMExports } from 'node:module'

/*
 * Loaded before the program (`--import`): a minute becomes a day. The wall clock, by which everything expires, runs so much faster, and so
 * do timers of a minute and more, by which feeds are asked for and records erased. Shorter ones guard sockets and stay as they are.
 */
const TIMES = 1_440
const LONG_MS = 60_000
/** Work that was made for once an hour is not done all the time. */
const SHORTEST_MS = 5_000

const realNow = Date.now
// One beginning for all processes of a run, so that they agree on the time.
const began = Number(process.env['SOAK_BEGAN'])
Date.now = () => Math.floor(began + (realNow() - began) * TIMES)
globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [Date.now()] : args, self),
})

const shorter = (ms: number | undefined): number | undefined =>
  ms !== undefined && ms >= LONG_MS && ms < 2 ** 31 ? Math.max(SHORTEST_MS, ms / TIMES) : ms

type Timers = Record<'setTimeout' | 'setInterval', (...args: unknown[]) => unknown>
const required = createRequire(import.meta.url)
for (const timers of [globalThis, required('node:timers')] as unknown as readonly Timers[]) {
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const original = timers[name]
    // Properties that Node sets on a function, such as its promisified form, are kept.
    timers[name] = Object.defineProperties(
      (work: unknown, ms?: unknown, ...rest: unknown[]) => original(work, shorter(Number(ms ?? 0)), ...rest),
      Object.getOwnPropertyDescriptors(original),
    ) as Timers[typeof name]
  }
}
const promises = required('node:timers/promises') as { setTimeout(ms?: number, ...rest: unknown[]): Promise<unknown> }
const wait = promises.setTimeout
promises.setTimeout = (ms, ...rest) => wait(shorter(ms), ...rest)
syncBuiltinESMExports()
