import type { ConfigInput } from '@sallyport/engine'
import type { ProxyHost } from '@sallyport/proxy'
import t, { type Test } from 'tap'
import { type AnyOptions, HOSTS, type Host, type RunningHost } from './hosts.ts'
import { openWithoutData } from './without-data.ts'

export type RuleInput = NonNullable<NonNullable<ConfigInput['policy']>['rules']>[number]

export const ASK_ALL = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } } satisfies RuleInput

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

/** Runs a check in every host, each with a gate of its own, because a gate answers only so many questions of one client. */
export function everyHost(name: string, rules: RuleInput[], check: (t: Test, at: RunningHost) => Promise<void>): void {
  void t.test(name, async (t) => {
    for (const host of HOSTS) {
      await t.test(host.name, async (t) => {
        const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules } })
        await check(t, await startHost(t, host, sallyport))
      })
    }
  })
}
