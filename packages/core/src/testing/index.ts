export { createCrawlerRanges, type RangeList } from '../crawler/ranges.ts'
export { NOTHING_KNOWN } from '../network/classify.ts'
export * from './fakes.ts'
export * from './random.ts'
