import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Decision, ObservedRequest } from '@sallyport/core'
import { AUDIT_FILE, type AuditEntry, addressWriter, BAN_LINE, createLog, type Log } from '#log'
import type { Settings } from '#settings'
import { isReadOnly } from './data-dir.ts'

/** A part that is opened but not in force yet. */
export interface Prepared {
  take(): void
  /** Closes the part. */
  drop(): void
}

/** Gives operators the decision log of a service. */
export interface DecisionLog {
  /** Records an action of an operator. */
  audit(entry: AuditEntry): void
  /** Reopens the file after a rotation moved it away. */
  reopen(): void
  /** Counts lines that could not be written. */
  readonly lost: number
}

/** Holds the decision log of a service, which a reload may replace. */
export type LogHolder = ReturnType<typeof openLog>

export function openLog(config: Settings, onFault: (error: unknown) => void) {
  const keyFolder = config.data.readOnly || isReadOnly(config.dataDir) ? undefined : config.dataDir
  const opened = (settings: Settings['log']) => ({
    settings,
    log: createLog({ ...settings, keyFolder, onFault }),
    writeAddress: addressWriter(settings.addresses, keyFolder),
  })
  let current = opened(config.log)
  let lostBefore = 0
  let trail: Log | undefined
  return {
    observe: (observed: ObservedRequest): void => current.log.observe(observed),
    /** Logs a request that was described to the API. */
    onChecked: (decision: Decision): void => current.log.observe(checked(decision)),
    audit(entry: AuditEntry): void {
      current.log.audit(entry)
      // An attack may cause thousands of bans, which have their own list.
      if (keyFolder === undefined || entry.what === BAN_LINE) return
      trail ??= createLog({ ...config.log, file: join(keyFolder, AUDIT_FILE), onFault })
      trail.audit(entry)
      trail.flush()
    },
    /** Sends waiting lines to the file. */
    flush: (): void => current.log.flush(),
    reopen: () => current.log.reopen(),
    /** Returns an address as the log's lines show it, at a time in milliseconds since the epoch; `undefined` if lines show none. */
    writeAddress: (address: string, at: number): string | undefined => current.writeAddress(address, at),
    get lost() {
      return lostBefore + current.log.lost
    },
    /** Opens the log of a configuration. Throws `invalid_config`. */
    prepare({ log }: Settings): Prepared {
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
    close: async (): Promise<void> => void (await Promise.all([current.log.close(), trail?.close()])),
  }
}

/** Makes the record of a described request, which was never received: it has no peer, no host and no times. */
function checked(decision: Decision): ObservedRequest {
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
