export { createExposition, type Exposition, exposed, type Scraped } from './exposition.ts'
export { createMetrics, type Metrics, type Reading } from './metrics.ts'
export { METRICS, type MetricRow } from './table.ts'
