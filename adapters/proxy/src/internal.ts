/* Names shared by the command and the proxy: names here may change in any release. */

export { escapeHtml } from '@sallyport/node/internal'
export type { WorkerCounts } from './admin.ts'
export { examineApi, examineOrigins, examineTls } from './examine.ts'
export { listSiteParts } from './gate/robots.ts'
