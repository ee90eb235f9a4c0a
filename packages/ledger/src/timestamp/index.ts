/* RFC 3161 timestamps of checkpoints. Only this folder needs the ASN.1 library, which is loaded at its first use. */

export { readTimestamps } from './read-timestamps.ts'
export { LibraryMissing, openTimestamps, type Timestamps } from './timestamps.ts'
