import { type CheckResult, type FeatureConfig, failNow, type Outbound, ok, proxyOf, reasonOf } from '#service'
import type { keys } from './keys.ts'
import { portOf, type Target, targetOf } from './target.ts'

const CONNECT_MS = 3_000

/** Whether the places of notifications can be reached; nothing is sent. */
export async function examineNotify(
  { notify, net }: FeatureConfig<typeof keys>,
  outbound: Outbound,
): Promise<readonly CheckResult[]> {
  const targets = notify.map(targetOf)
  if (targets.length === 0) return [ok('No notifications are configured.')]
  if (!net.outbound) return []
  return Promise.all(targets.map((target, at) => examinePlace(target, ['notify', at, 'url'], outbound)))
}

async function examinePlace(target: Target, path: readonly PropertyKey[], outbound: Outbound): Promise<CheckResult> {
  const { form, url, name } = target
  try {
    const proxy = url.protocol === 'https:' ? proxyOf(url) : undefined
    if (proxy !== undefined) return ok(`${name} (${form}) is asked through the proxy ${proxy.host}.`)
    const socket = await outbound.connect(url.hostname.replace(/^\[(.*)\]$/, '$1'), portOf(url), CONNECT_MS)
    socket.destroy()
    return ok(`${name} (${form}) can be reached; sallyport notify test sends a test.`)
  } catch (error) {
    const found = `${name} (${form}) cannot be reached: ${reasonOf(error)}.`
    const isInside = /is not a public address/.test(found)
    return failNow(
      found,
      isInside ? 'Name it in net.allowPrivate.' : 'Is its name right, and may this machine connect there?',
      path,
    )
  }
}
