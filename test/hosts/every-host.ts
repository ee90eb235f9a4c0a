import { setTimeout as delay } from 'node:timers/promises'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import type { ProxyHost } from '@sallyport/proxy'
import t, { type Test } from 'tap'
import { type AnyOptions, HOSTS, type Host, type RunningHost } from './hosts.ts'
import { openWithoutData } from './without-data.ts'

export type RuleInput = NonNullable<NonNullable<ConfigInput['policy']>['rules']>[number]

export const ASK_ALL = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } } satisfies RuleInput

/** Every request needs a pass of level 2. */
export const ASKING = { policy: { preset: 'observe', rules: [ASK_ALL] } } satisfies Partial<ConfigInput>

/** Starts a host until the test ends. */
export async function startHost(
  t: Test,
  host: Host,
  sallyport: ProxyHost,
  options: AnyOptions = {},
): Promise<RunningHost> {
  const at = await host.start(sallyport, '', options)
  t.teardown(() => at.close())
  return at
}

/** Resolves once so many bans are there: a strike is counted when its answer has ended, which is a moment after it was read. */
export async function awaitBans({ bans }: Pick<Sallyport, 'bans'>, count: number): Promise<void> {
  while ((await bans.list()).length !== count) await delay(5)
}

type Check = (t: Test, at: RunningHost, sallyport: Sallyport) => Promise<void>

/** Runs a check in every host before one service. */
export function everyHost(name: string, config: Partial<ConfigInput>, check: Check): void {
  void t.test(name, async (t) => {
    const sallyport = await openWithoutData(t, config)
    for (const host of HOSTS) {
      await t.test(host.name, async (t) => check(t, await startHost(t, host, sallyport), sallyport))
    }
  })
}

/** Runs a check in every host, each with a gate of its own, because a gate answers only so many questions of one client. */
export function everyGate(name: string, config: Partial<ConfigInput>, check: Check): void {
  void t.test(name, async (t) => {
    for (const host of HOSTS) {
      await t.test(host.name, async (t) => {
        const sallyport = await openWithoutData(t, config)
        await check(t, await startHost(t, host, sallyport), sallyport)
      })
    }
  })
}
