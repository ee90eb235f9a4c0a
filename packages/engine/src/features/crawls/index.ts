import type { Feature } from '#service'
import { keys } from './keys.ts'

export { type CrawlPorts, type Crawls, openCrawls } from './crawls.ts'

/** Records of what crawlers read against the preferences of the site, in the ledger. */
export const feature: Feature<typeof keys> = { keys }
