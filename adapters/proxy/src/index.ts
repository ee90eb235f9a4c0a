export type { AdminPages } from './admin.ts'
export type { ProxyHost } from './gate/options.ts'
export { openProxy, type Proxy, type ProxyOptions } from './server.ts'
