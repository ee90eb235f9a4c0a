export { createPlaces } from './clients.ts'
export { type CrawlerReport, type OperatorReading, reportCrawlers } from './crawler-report.ts'
export { sumHours, type TallyHours } from './hours.ts'
export { type IdentifiedCrawler, identifyCrawler } from './identify-crawler.ts'
export { createTallyKeeper, type TallyKeeper } from './keeper.ts'
export { pathPattern } from './path-pattern.ts'
export {
  earlierBy,
  type Period,
  type RuleImpact,
  reportPeriod,
  reportTally,
  type TallyReport,
  type Visitors,
} from './report.ts'
export type { Impact, Share } from './sums.ts'
export { type AskRobots, isPageRead } from './tally.ts'
export { readTallyFile, TALLY_FILE } from './tally-file.ts'
