import {
  counted,
  DAY_MS,
  type Dns,
  dropBody,
  isLost,
  isStale,
  type Rule,
  rulesInForce,
  SallyportError,
  type SourceStatus,
} from '@sallyport/core'
import { type Config, listPolicies } from '#config'
import { isShippedTable, type MailDomains, shippedTablesAge } from '#datasets/service'
import { readKeptLists } from '#features/lists'
import {
  type CheckResult,
  createOutbound,
  describeReason,
  type Finding,
  fail,
  findProxy,
  ok,
  shortList,
  warn,
  withData,
} from '#service'

const MIRROR_MS = 5_000
const ASKED_BYTES = 2 ** 20
const COMPILE = 'Run sallyport data compile, or start the service.'

/** How old the compiled data is, and whether this machine's clock can be right. */
export async function examineData(config: Config, now: number): Promise<readonly (CheckResult | Finding)[]> {
  let sources: readonly SourceStatus[]
  let hasCities = false
  let mail: MailDomains | undefined
  try {
    const read = { ...config, data: { ...config.data, readOnly: true } }
    sources = await withData(read, {}, async ({ snapshots, throwawayMail }) => {
      const lists = await readKeptLists(read)
      mail = throwawayMail()
      hasCities = (snapshots.current().geo?.families.length ?? 0) > 0
      return [...snapshots.current().sources, ...[...lists.values()].map(({ status }) => status)]
    })
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const isMissing = error.code === 'missing_data' || error.code === 'data_dir_unusable'
    return [isMissing ? warn('No data is compiled yet.', COMPILE) : fail(`${describeReason(error)}.`, COMPILE)]
  }
  const loaded = sources.filter(({ state }) => state === 'loaded')
  const warnings = [...checkMailLists(config, mail), ...(hasCities ? [] : regionWarnings(config))]
  const clock = { check: 'clock', ...checkClock(loaded, now) }
  return [checkAges(loaded, now), ...listFaults(sources, now), ...warnings, clock]
}

function checkAges(loaded: readonly SourceStatus[], now: number): CheckResult {
  const shipped = shippedTablesAge(loaded, now)
  const stale = loaded.filter((source) => isStale(source, now) && !isShippedTable(source, now)).map(({ id }) => id)
  if (stale.length === 0) {
    const count = `${counted(loaded.length, 'source')} ${areIs(loaded)} loaded`
    if (shipped === undefined) return ok(`${count} and none is stale.`)
    return ok(`${count}; bundled networks and countries are ${counted(shipped, 'day')} old. Run sallyport data update.`)
  }
  return warn(
    `${stale.length} of ${counted(loaded.length, 'source')} ${areIs(stale)} stale: ${shortList(stale)}.`,
    'Run sallyport data update, or set data.refresh so that a running service updates it.',
  )
}

/** Warns of rules by region where no city file is loaded: then only geofeeds say where a client is. */
function regionWarnings(config: Config): readonly CheckResult[] {
  const ids = rulesAsking(config, ({ region }) => region !== undefined)
  if (ids.length === 0) return []
  const sentence = `No city file is loaded, so the regions in ${shortList(ids)} are mostly unknown.`
  return [warn(sentence, 'Run sallyport data update, or set your own file in data.sources.')]
}

function checkMailLists(config: Config, mail: MailDomains | undefined): readonly CheckResult[] {
  const ids = rulesAsking(config, ({ mail }) => mail?.disposable !== undefined)
  if (ids.length === 0) return []
  if (mail !== undefined) return mail.lists.map(({ source, date }) => ok(`The list ${source} is from ${date}.`))
  const sentence = `No list of disposable email domains is loaded, so ${shortList(ids)} never matches.`
  return [warn(sentence, 'Set data.sources.throwaway-mail.enabled: true, or set its url to your own list.')]
}

function rulesAsking(config: Config, asks: (match: Rule['match']) => boolean): readonly string[] {
  const rules = listPolicies(config).flatMap(({ policy }) => rulesInForce(policy))
  return rules.filter(({ match }) => asks(match) || asks(match.not ?? {})).map(({ id }) => id)
}

function areIs({ length }: readonly unknown[]): string {
  return length === 1 ? 'is' : 'are'
}

function listFaults(sources: readonly SourceStatus[], now: number): readonly CheckResult[] {
  const refused = sources.filter(({ state }) => state === 'refused').map(({ id }) => id)
  const lost = sources.filter((source) => isLost(source, now))
  const failed = sources.filter((source) => source.error !== undefined && !lost.includes(source))
  const found: CheckResult[] = []
  if (refused.length > 0) found.push(fail(`Rejected: ${shortList(refused)}.`, 'See sallyport data status.'))
  if (lost.length > 0) {
    const sentence = `Sources without a successful download for three refresh intervals: ${shortList(lost.map(lostSince))}.`
    const advice = 'Run sallyport data status for the reason. If the publisher has moved, set data.sources.<id>.url.'
    found.push(warn(sentence, advice))
  }
  if (failed.length > 0) {
    const sentence = `The last refresh of ${shortList(failed.map(({ id }) => id))} failed: ${failed[0]?.error}.`
    found.push(warn(sentence, 'Run sallyport data status for the reason. The loaded data stays in use.'))
  }
  return found
}

function lostSince({ id, checked }: SourceStatus): string {
  return checked === undefined ? id : `${id} (last read ${checked.slice(0, 10)})`
}

/** Data from the future says that the clock is behind: certificates and signatures are then judged wrongly. */
function checkClock(loaded: readonly SourceStatus[], now: number): CheckResult {
  const dates = loaded.flatMap(({ date }) => (date === undefined ? [] : [Date.parse(date)]))
  const newest = Math.max(0, ...dates.filter(Number.isFinite))
  const today = new Date(now).toISOString()
  if (newest <= now + DAY_MS) return ok(`The date is ${today}.`)
  return fail(
    `The clock shows ${today}, but some data is from ${new Date(newest).toISOString().slice(0, 10)}.`,
    'Set the clock (timedatectl set-ntp true). Certificates, signatures and data ages depend on it.',
  )
}

/** How feeds come in: the checks of TLS, the proxy of the environment, and the mirror, which is asked. */
export async function examineFeeds(config: Config, dns: Dns): Promise<readonly CheckResult[]> {
  const { refresh, readOnly, mirror } = config.data
  const found: CheckResult[] = []
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    found.push(fail('NODE_TLS_REJECT_UNAUTHORIZED=0 disables downloads.', 'Unset it. NODE_EXTRA_CA_CERTS adds a CA.'))
  }
  try {
    const proxy = findProxy(new URL(mirror ?? 'https://publisher.invalid'))
    if (proxy !== undefined) found.push(ok(`Downloads go through the proxy ${proxy.host}.`))
  } catch (error) {
    found.push(fail(`${describeReason(error)}.`, 'Set the variable to http://user:password@host:port, or unset it.'))
  }
  // The file of a feed is asked for by its id, and the URL above it need not answer with anything.
  if (mirror !== undefined) found.push(await askMirror(config, mirror, dns))
  if (readOnly || !refresh) found.push(ok('A running service downloads nothing. Run sallyport data update.'))
  return found.length === 0 ? [ok('Feeds come from their publishers.')] : found
}

async function askMirror(config: Config, url: string, dns: Dns): Promise<CheckResult> {
  const request = { url, maxBytes: ASKED_BYTES, timeoutMs: MIRROR_MS }
  const answer = await createOutbound(config, { dns }).feeds.fetch(request)
  const { host } = new URL(url)
  if (answer.state === 'answered') {
    await dropBody(answer)
    return ok(`The mirror ${host} responds.`)
  }
  return fail(
    `The mirror ${host} cannot be reached: ${answer.reason}.`,
    'A private address or plain http needs net.allowPrivate. A private CA needs NODE_EXTRA_CA_CERTS.',
  )
}
