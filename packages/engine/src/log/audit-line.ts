/** This file in the dataDir records the actions of operators, and nothing about requests. */
export const AUDIT_FILE = 'audit.log'

/** The `what` of a new ban. fail2ban reads these lines, because a request line does not say that its whole address is banned. */
export const BAN_LINE = 'ban'

/** Records an operator's action on the service, or an event of the service itself. */
export interface AuditEntry {
  /** Names the action as the command line does: `keys create`, `reload`. */
  readonly what: string
  /** Names a user of the operating system, or the signal that caused the action. */
  readonly who: string
  /** The code of the error that ended the action; absent if it succeeded. */
  readonly error?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** A line of the audit trail; `time` is ISO 8601 in UTC. */
export type AuditLine = Omit<AuditEntry, 'what'> & { readonly time: string; readonly audit: string }

export function auditLine({ what, who, error, details }: AuditEntry): AuditLine {
  return { time: new Date().toISOString(), audit: what, who, error, details }
}
