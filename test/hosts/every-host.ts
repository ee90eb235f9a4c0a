import type { ConfigInput } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { HOSTS, type RunningHost } from './hosts.ts'
import { openWithoutData } from './without-data.ts'

type RuleInput = NonNullable<NonNullable<ConfigInput['policy']>['rules']>[number]

export const ASK_ALL = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } } satisfies RuleInput

/** Runs a check in every host, each with a gate of its own, because a gate answers only so many questions of one client. */
export function everyHost(name: string, rules: RuleInput[], check: (t: Test, at: RunningHost) => Promise<void>): void {
  void t.test(name, async (t) => {
    for (const host of HOSTS) {
      await t.test(host.name, async (t) => {
        const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules } })
        const at = await host.start(sallyport, '')
        t.teardown(() => at.close())
        await check(t, at)
      })
    }
  })
}
