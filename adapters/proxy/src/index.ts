export { EXAMPLE_VISITORS, type ExampleVisitor } from './example-visitors.ts'
export type { ProxyHost } from './gate-options.ts'
export { sitePartsOf } from './robots.ts'
export { openProxy, type Proxy, type ProxyOptions } from './server.ts'
