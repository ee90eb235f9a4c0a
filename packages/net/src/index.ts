export { createDns, type DnsOptions } from './dns.ts'
