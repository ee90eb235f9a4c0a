export { ADDRESS_FORMS, addressWriter } from './addresses.ts'
export { type AuditEntry, type AuditLine, auditLine, BAN_LINE } from './audit-line.ts'
export { dailyKey } from './daily-key.ts'
export { FIELDS } from './fields.ts'
export { LOG_FORMATS, readEntry, readLine } from './formats.ts'
export { type LogLine, lineOf } from './line.ts'
export { createLog, LOGGED_REQUESTS, type Log, type LogOptions } from './log.ts'
export {
  createReport,
  type Report,
  type ReportPart,
  type ReportSums,
  type ReportTable,
  reportedActions,
} from './report.ts'
export type { ReportedChallenges } from './report-challenges.ts'
