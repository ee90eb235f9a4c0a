export { createExposition, type Exposition, exposed, type Scraped } from './exposition.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export { METRICS, type MetricRow } from './table.ts'
export type { Reading } from './tally.ts'
