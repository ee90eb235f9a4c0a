import { join } from 'node:path'
import type { Clock } from '@sallyport/core'
import { dailyKey } from '#log'
import type { FeatureConfig } from '#service'
import { isReadOnly } from '#service'
import type { Settings } from '#settings'
import {
  type AskRobots,
  type CrawlerReport,
  createPlaces,
  createTallyKeeper,
  earlierBy,
  type Period,
  readTallyFile,
  reportCrawlers,
  reportPeriod,
  reportTally,
  sumHours,
  TALLY_FILE,
  type TallyHours,
  type TallyKeeper,
  type TallyReport,
} from '#tally'
import type { keys } from './keys.ts'

export interface TallyPorts {
  readonly clock: Clock
  readonly onFault: (error: unknown) => void
  readonly robots: AskRobots | undefined
  /** True if requests were recorded or invented: no site received them. */
  readonly isTrial: boolean
}

/** Ignores every request. */
const NONE: TallyKeeper = { observe() {}, turn() {}, flush: async () => {}, close: async () => {} }

/** Opens the tally of a service, if it keeps one. */
export function openTally(
  config: FeatureConfig<typeof keys> & Settings,
  { clock, onFault, robots = () => undefined, isTrial }: TallyPorts,
): TallyKeeper {
  const { tally: keepMs, dataDir, data } = config
  if (isTrial || keepMs === 0 || data.readOnly || isReadOnly(dataDir)) return NONE
  return createTallyKeeper(config, {
    file: join(dataDir, TALLY_FILE),
    keepMs,
    findPlace: createPlaces(dailyKey(dataDir)),
    robots,
    now: clock.now,
    onFault,
  })
}

/** The configuration says where the tally is. */
type Place = Pick<Settings, 'dataDir'>

/** Holds both reports of a span. */
export interface TallyReports {
  readonly all: TallyReport
  readonly crawlers: CrawlerReport
}

/** Sums up the tally of a dataDir between two moments in milliseconds since the epoch; `undefined` if nothing was ever counted. */
export async function readTally({ dataDir }: Place, from: number, until: number): Promise<TallyReports | undefined> {
  const path = join(dataDir, TALLY_FILE)
  const by = earlierBy(from, until)
  const reading = await readTallyFile(path, from, until)
  if (reading.isEmpty) return undefined
  const earlier = await readTallyFile(path, from - by, until - by)
  return { all: reportTally(reading, earlier), crawlers: reportCrawlers(reading, earlier) }
}

/** Reads a summary of a span of the tally, as `readTally` does; returns `undefined` if nothing was counted in it. */
export async function readPeriod({ dataDir }: Place, from: number, until: number): Promise<Period | undefined> {
  return reportPeriod(await readTallyFile(join(dataDir, TALLY_FILE), from, until))
}

/** Reads a span of the tally by the hour; returns `undefined` if nothing was counted in it. */
export async function readHours({ dataDir }: Place, from: number, until: number): Promise<TallyHours | undefined> {
  const reading = await readTallyFile(join(dataDir, TALLY_FILE), from, until)
  return reading.rows.length === 0 ? undefined : sumHours(reading)
}
