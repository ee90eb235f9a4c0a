/* Names shared by the command and the proxy: names here may change in any release. */
export type { WorkerCounts } from './admin.ts'
export { examineOrigins, examineTls } from './examine.ts'
export { curlOf } from './example/curl.ts'
export { fieldsFor } from './example/visit.ts'
export { EXAMPLE_VISITORS, type ExampleVisitor } from './example/visitors.ts'
export { sitePartsOf } from './gate/robots.ts'
