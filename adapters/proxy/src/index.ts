export type { ProxyHost } from './gate.ts'
export { openProxy, type Proxy, type ProxyOptions } from './server.ts'
