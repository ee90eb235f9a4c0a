import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Decision, Observe } from '@sallyport/core'
import { AUDIT_FILE, type AuditEntry, addressWriter, BAN_LINE, createLog, type Log } from '#log'
import type { Settings } from '#settings'
import { isReadOnly } from './data-dir.ts'

/** A part that is open and not in force yet. */
export interface Prepared {
  take(): void
  /** Lets go of it. */
  drop(): void
}

/** The decision log of a service, for its operators. */
export interface DecisionLog {
  /** Records an action of an operator. */
  audit(entry: AuditEntry): void
  /** Opens the file again, after it was moved away. */
  reopen(): void
  /** Lines that could not be written. */
  readonly lost: number
}

/** The decision log of a service, which a reload may replace. */
export interface LogHolder extends DecisionLog {
  readonly observe: Observe
  /** A request that was described to the API. */
  onChecked(decision: Decision): void
  /** An address as its lines have it, at a time in milliseconds since the epoch; `undefined`: they have none. */
  addressOf(address: string, at: number): string | undefined
  /** Opens what this configuration writes to. Throws `invalid_config`. */
  prepare(config: Settings): Prepared
  /** Hands what is held to the file. */
  flush(): void
  close(): Promise<void>
}

/** A log, and what it was opened with. */
interface OpenedLog extends Pick<LogHolder, 'addressOf'> {
  readonly settings: Settings['log']
  readonly log: Log
}

export function openLog(config: Settings, onFault: (error: unknown) => void): LogHolder {
  const keyFolder = config.data.readOnly || isReadOnly(config.dataDir) ? undefined : config.dataDir
  const opened = (settings: Settings['log']): OpenedLog => ({
    settings,
    log: createLog({ ...settings, keyFolder, onFault }),
    addressOf: addressWriter(settings.addresses, keyFolder),
  })
  let current = opened(config.log)
  let lostBefore = 0
  let trail: Log | undefined
  return {
    observe: (observed) => current.log.observe(observed),
    onChecked: (decision) => current.log.observe(checked(decision)),
    audit(entry) {
      current.log.audit(entry)
      // An attack may be thousands of bans, which are a list of their own.
      if (keyFolder === undefined || entry.what === BAN_LINE) return
      trail ??= createLog({ ...config.log, file: join(keyFolder, AUDIT_FILE), onFault })
      trail.audit(entry)
      trail.flush()
    },
    flush: () => current.log.flush(),
    reopen: () => current.log.reopen(),
    addressOf: (address, at) => current.addressOf(address, at),
    get lost() {
      return lostBefore + current.log.lost
    },
    prepare({ log }) {
      if (isDeepStrictEqual(log, current.settings)) return { take() {}, drop() {} }
      const next = opened(log)
      return {
        take() {
          const { log: before } = current
          lostBefore += before.lost
          current = next
          void before.close()
        },
        drop: () => void next.log.close(),
      }
    },
    close: async () => void (await Promise.all([current.log.close(), trail?.close()])),
  }
}

/** It was never received: it has no peer, no host and no times. */
function checked(decision: Decision): Parameters<Observe>[0] {
  const { at, client, request } = decision.inspection
  return {
    id: decision.id ?? '',
    decision,
    answeredBy: 'check',
    peer: '',
    client: client.address ?? '',
    method: request.method,
    host: '',
    path: request.path,
    status: 0,
    at: Date.parse(at),
    milliseconds: 0,
  }
}
