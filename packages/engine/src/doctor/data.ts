import { counted, DAY_MS, type Dns, dropBody, isStale, SallyportError, type SourceStatus } from '@sallyport/core'
import type { Config } from '#config'
import { isShippedTable, shippedTablesAge } from '#datasets/service'
import { readLists } from '#features/lists'
import { type CheckResult, createOutbound, fail, ok, proxyOf, reasonOf, shortList, warn, withData } from '#service'

const MIRROR_MS = 5_000
const ASKED_BYTES = 2 ** 20
const COMPILE = 'sallyport data compile, or the first start.'

/** How old the compiled data is, and whether this machine's clock can be right. */
export async function examineData(
  config: Config,
  now: number,
): Promise<{ readonly data: readonly CheckResult[]; readonly clock: readonly CheckResult[] }> {
  let sources: readonly SourceStatus[]
  try {
    const read = { ...config, data: { ...config.data, readOnly: true } }
    sources = await withData(read, {}, async ({ snapshots }) => {
      const lists = await readLists(read)
      return [...snapshots.current().sources, ...[...lists.values()].map(({ status }) => status)]
    })
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const isMissing = error.code === 'missing_data' || error.code === 'data_dir_unusable'
    const found = isMissing ? warn('No data is compiled yet.', COMPILE) : fail(`${reasonOf(error)}.`, COMPILE)
    return { data: [found], clock: [] }
  }
  const loaded = sources.filter(({ state }) => state === 'loaded')
  return { data: [agesOf(loaded, now), ...faultsOf(sources)], clock: [clockOf(loaded, now)] }
}

function agesOf(loaded: readonly SourceStatus[], now: number): CheckResult {
  const shipped = shippedTablesAge(loaded, now)
  const stale = loaded.filter((source) => isStale(source, now) && !isShippedTable(source, now)).map(({ id }) => id)
  if (stale.length === 0) {
    const said = `${counted(loaded.length, 'source')} ${areIs(loaded)} loaded`
    if (shipped === undefined) return ok(`${said} and none is past its age.`)
    return ok(`${said}; networks and countries are as shipped ${counted(shipped, 'day')} ago: sallyport data update.`)
  }
  return warn(
    `${stale.length} of ${counted(loaded.length, 'source')} ${areIs(stale)} past ${stale.length === 1 ? 'its' : 'their'} age: ${shortList(stale)}.`,
    'sallyport data update; with data.refresh a running service does it.',
  )
}

function areIs({ length }: readonly unknown[]): string {
  return length === 1 ? 'is' : 'are'
}

function faultsOf(sources: readonly SourceStatus[]): readonly CheckResult[] {
  const refused = sources.filter(({ state }) => state === 'refused').map(({ id }) => id)
  const failed = sources.filter(({ error }) => error !== undefined)
  const [first] = failed
  return [
    ...(refused.length === 0 ? [] : [fail(`Refused: ${shortList(refused)}.`, 'sallyport data status says why.')]),
    ...(first === undefined
      ? []
      : [
          warn(
            `The last refresh of ${shortList(failed.map(({ id }) => id))} failed: ${first.error}.`,
            'sallyport data status says why; what was loaded stays in use.',
          ),
        ]),
  ]
}

/** Data from the future says that the clock is behind: certificates and signatures are then judged wrongly. */
function clockOf(loaded: readonly SourceStatus[], now: number): CheckResult {
  const dates = loaded.flatMap(({ date }) => (date === undefined ? [] : [Date.parse(date)]))
  const newest = Math.max(0, ...dates.filter(Number.isFinite))
  const today = new Date(now).toISOString()
  if (newest <= now + DAY_MS) return ok(`It is ${today}.`)
  return fail(
    `It is ${today} here, and there is data of ${new Date(newest).toISOString().slice(0, 10)}.`,
    'Set the clock (timedatectl set-ntp true): certificates, signatures and ages count on it.',
  )
}

/** How feeds come in: the checks of TLS, the proxy of the environment, and the mirror, which is asked. */
export async function examineFeeds(config: Config, dns: Dns): Promise<readonly CheckResult[]> {
  const { refresh, readOnly, mirror } = config.data
  const found: CheckResult[] = []
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    found.push(
      fail('NODE_TLS_REJECT_UNAUTHORIZED=0: nothing is downloaded.', 'Unset it; NODE_EXTRA_CA_CERTS adds a CA.'),
    )
  }
  try {
    const proxy = proxyOf(new URL(mirror ?? 'https://publisher.invalid'))
    if (proxy !== undefined) found.push(ok(`They go through the proxy ${proxy.host}.`))
  } catch (error) {
    found.push(fail(`${reasonOf(error)}.`, 'http://user:password@host:port, or unset it.'))
  }
  // The file of a feed is asked for by its id, and the URL above it need not answer with anything.
  if (mirror !== undefined) found.push(await askMirror(config, mirror, dns))
  if (readOnly || !refresh) found.push(ok('Nothing is downloaded by a running service; sallyport data update does it.'))
  return found.length === 0 ? [ok('Feeds come from their publishers.')] : found
}

async function askMirror(config: Config, url: string, dns: Dns): Promise<CheckResult> {
  const request = { url, maxBytes: ASKED_BYTES, timeoutMs: MIRROR_MS }
  const answer = await createOutbound(config, { dns }).feeds.fetch(request)
  const { host } = new URL(url)
  if (answer.state === 'answered') {
    await dropBody(answer)
    return ok(`The mirror ${host} answers.`)
  }
  return fail(
    `The mirror ${host} cannot be asked: ${answer.reason}.`,
    'An address inside, or plain http, needs net.allowPrivate; a CA of your own needs NODE_EXTRA_CA_CERTS.',
  )
}
