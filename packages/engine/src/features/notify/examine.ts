import { type CheckResult, describeReason, failNow, findProxy, type Outbound, ok } from '#service'
import type { LocatedFault } from '#settings'
import type { NotifySettings } from './keys.ts'
import { readPort, readTarget, type Target, targetWarning } from './target.ts'

const CONNECT_MS = 3_000

/** Places that are there twice: each would be notified twice. */
export function notifyFaults({ notify }: NotifySettings): readonly LocatedFault[] {
  return notify.flatMap(({ url }, at) =>
    notify.findIndex((other) => other.url === url) === at
      ? []
      : [{ path: ['notify', at, 'url'], message: 'is listed twice. Merge the events into one entry' }],
  )
}

/** Places that are allowed and most likely not meant. */
export function notifyWarnings({ notify, net }: NotifySettings): readonly LocatedFault[] {
  const closed = notify.length > 0 && !net.outbound ? [{ path: ['notify'], message: 'needs net.outbound: true' }] : []
  const found = notify.flatMap((place, at) => {
    const warning = targetWarning(place)
    return warning === undefined ? [] : [{ path: ['notify', at, warning.member], message: warning.message }]
  })
  return [...closed, ...found]
}

/** Whether the places of notifications can be reached; nothing is sent. */
export async function examineNotify(config: NotifySettings, outbound: Outbound): Promise<readonly CheckResult[]> {
  const targets = config.notify.map(readTarget)
  if (targets.length === 0) return [ok('No notifications are configured.')]
  if (!config.net.outbound) return []
  return Promise.all(targets.map((target, at) => examinePlace(target, ['notify', at, 'url'], outbound)))
}

async function examinePlace(target: Target, path: readonly PropertyKey[], outbound: Outbound): Promise<CheckResult> {
  const { form, url, name } = target
  try {
    const proxy = url.protocol === 'https:' ? findProxy(url) : undefined
    if (proxy !== undefined) return ok(`${name} (${form}) is reached through the proxy ${proxy.host}.`)
    const socket = await outbound.connect(url.hostname.replace(/^\[(.*)\]$/, '$1'), readPort(url), CONNECT_MS)
    socket.destroy()
    return ok(`${name} (${form}) can be reached. Send a test message with sallyport notify test.`)
  } catch (error) {
    const found = `${name} (${form}) cannot be reached: ${describeReason(error)}.`
    const isInside = /is not a public address/.test(found)
    return failNow(
      found,
      isInside ? 'Add it to net.allowPrivate.' : 'Check the host name, and whether this machine may connect to it.',
      path,
    )
  }
}
