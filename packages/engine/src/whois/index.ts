export { parseWhoisText } from './parse-text.ts'
export type { Registries, WhoisServer } from './registries.ts'
export { createRegistries } from './registries.ts'
export { createWhois } from './whois.ts'
