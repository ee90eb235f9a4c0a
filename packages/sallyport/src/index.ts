export { type ConfigSources, readConfig, splitList } from './config/read.ts'
export type { Config, ConfigInput } from './config/schema.ts'
export type { IssuedKey, KeyOwner, Keyring } from './keyring.ts'
export { type NoticeCode, type OpenAccounts, type OpenHooks, open, openAccounts, type Sallyport } from './open.ts'
