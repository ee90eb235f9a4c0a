import { join } from 'node:path'
import type { Accounts } from '@sallyport/accounts'
import { type Api, createApi } from '@sallyport/api'
import {
  type Clock,
  compilePolicy,
  createInspector,
  createLookup,
  type Inspector,
  type LookupResult,
  parseTrust,
  type Snapshots,
  type SourceStatus,
} from '@sallyport/core'
import { createDns } from '@sallyport/net'
import { createMemoryLimits, openSqliteAccounts } from '@sallyport/stores'
import { parseConfig } from './config/read.ts'
import type { Config, ConfigInput } from './config/schema.ts'
import { createKeyring, type Keyring } from './keyring.ts'
import { openSnapshot, type SnapshotHooks } from './snapshot.ts'

/** What a host may want to be told; everything here is optional and nothing waits for it. */
export interface OpenHooks extends Omit<SnapshotHooks, 'onRefused'> {
  /** Something that a person should know; by default a process warning. `code` is stable. */
  readonly onNotice?: (code: NoticeCode, message: string) => void
  /** A bug, or a store that failed: the request was answered without its detail. By default a process warning. */
  readonly onFault?: (error: unknown) => void
}

export type NoticeCode = 'SALLYPORT_FORWARDED_UNTRUSTED' | 'SALLYPORT_TABLES_REFUSED' | 'SALLYPORT_FAULT'

/** One Sallyport: inspection, `/v1` and what they answer from. Two in one process share nothing. */
export interface Sallyport extends Inspector, OpenAccounts {
  /** The whole of `/v1`; adapters mount it. */
  readonly api: Api
  /** The configuration with every default filled in. */
  readonly config: Config
  lookup(target: string): Promise<LookupResult>
  /** The data sets, as they are loaded now. */
  sources(): readonly SourceStatus[]
  /** Gives back files and stores; requests after it are still inspected, keyed routes answer 503. */
  close(): Promise<void>
}

/**
 * Builds everything that a configuration asks for. The first open of a dataDir compiles the embedded data, which takes
 * some seconds; data that cannot be used leaves the service degraded and says so. Rejects with `invalid_config` or
 * `invalid_policy`, and where the store cannot be opened.
 */
export async function open(options: ConfigInput = {}, hooks: OpenHooks = {}): Promise<Sallyport> {
  const config = parseConfig(options)
  const trust = parseTrust(config.trustProxy, config.clientHeader)
  const policy = compilePolicy(config.policy)
  const notice = hooks.onNotice ?? warnProcess
  const onFault = hooks.onFault ?? ((error: unknown) => notice('SALLYPORT_FAULT', String(error)))
  const clock = SYSTEM_CLOCK

  const snapshot = await openSnapshot(config, {
    ...hooks,
    onRefused: (message) => notice('SALLYPORT_TABLES_REFUSED', `${message}; the data is compiled anew.`),
  })
  const snapshots: Snapshots = { current: () => snapshot }
  const { accounts, keyring, close } = await openAccountsOf(config, clock)
  const dns = createDns(config.dns)
  const lookup = createLookup({ clock, dns, snapshots })
  const inspector = createInspector({
    clock,
    snapshots,
    trust,
    policy,
    mode: config.mode,
    onFault,
    onForwardedUntrusted: () => notice('SALLYPORT_FORWARDED_UNTRUSTED', FORWARDED_UNTRUSTED),
  })
  const api = createApi({
    clock,
    lookup,
    snapshots,
    accounts,
    limits: createMemoryLimits(),
    ipv6Prefix: config.limits.ipv6Prefix,
    client: inspector.client,
    onError: onFault,
  })

  return {
    ...inspector,
    api,
    config,
    accounts,
    keyring,
    lookup: lookup.lookup,
    sources: () => snapshots.current().sources,
    close,
  }
}

/** Accounts and keys without anything else: no data is loaded or compiled for them. */
export interface OpenAccounts {
  readonly accounts: Accounts
  readonly keyring: Keyring
  close(): Promise<void>
}

/** Opens the store of a configuration alone, for work on accounts and keys. */
export async function openAccounts(options: ConfigInput = {}): Promise<OpenAccounts> {
  return openAccountsOf(parseConfig(options), SYSTEM_CLOCK)
}

async function openAccountsOf(config: Config, clock: Clock): Promise<OpenAccounts> {
  const accounts = await openSqliteAccounts(storePath(config))
  return {
    accounts,
    keyring: createKeyring(accounts, clock),
    async close() {
      accounts.close()
    },
  }
}

const SYSTEM_CLOCK: Clock = { now: () => Date.now() }

const FORWARDED_UNTRUSTED =
  'Requests carry forwarding headers and no proxy is trusted, so every visitor is judged by the address of the socket. ' +
  'If a proxy of yours stands in front, name it in trustProxy.'

function warnProcess(code: NoticeCode, message: string): void {
  process.emitWarning(message, { type: 'SallyportWarning', code })
}

function storePath(config: Config): string {
  return config.store === undefined ? join(config.dataDir, 'state.db') : config.store.slice('sqlite:'.length)
}
