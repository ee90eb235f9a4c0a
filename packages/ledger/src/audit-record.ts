import type { StoredRecord } from './ports.ts'
import type { Subject } from './record.ts'
import { commitment } from './verify/hash.ts'

/*
 * Members are searched in the canonical text of a record and not parsed: quotes inside a value are escaped, so no value can look like a
 * member.
 */

/** The text of a record, one character a byte, so that no byte is lost by decoding. */
export function recordText({ bytes }: StoredRecord): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** The fault where either of two neighbours may have been changed. */
export const UNLINKED = 'The record does not link to the one before it.'

const MISPLACED = 'The record lies at another place than it names.'

/** Why a record does not belong at its place. */
export function placeFault(
  text: string,
  { seq, attestationId }: StoredRecord,
  wantedSeq: number,
  link: string,
  before: StoredRecord | undefined,
): string | undefined {
  if (seq !== wantedSeq) return `Record ${wantedSeq} is missing.`
  // The two members are neighbours in canonical order.
  if (!text.includes(`"prev":"${link}","seq":${seq},`)) return text.includes(`"prev":"${link}",`) ? MISPLACED : UNLINKED
  if (!text.startsWith(`{"attestation_id":${attestationId},`)) return MISPLACED
  if (before !== undefined && before.attestationId >= attestationId) return 'The ids do not rise.'
  return undefined
}

const ISSUED = '"issued_at":"'
const MOMENT_LENGTH = '2026-11-21T02:00:00.000Z'.length

/** When a record says that it was issued, ISO 8601; `undefined` where it does not. */
export function readIssuedAt(text: string): string | undefined {
  const at = text.indexOf(ISSUED)
  const end = at + ISSUED.length + MOMENT_LENGTH
  return at === -1 || text[end] !== '"' ? undefined : text.slice(at + ISSUED.length, end)
}

const SALT_BYTES = 32

/** Why the subject of a record is not the one that was recorded. */
export function subjectFault(text: string, { address, salt, context }: Subject): string | undefined {
  // A longer salt could take in the first characters of the address.
  if (salt.length !== SALT_BYTES) return 'The salt beside the record is not as long as it was.'
  if (!text.includes(`"subject":{"commit":"${commitment(salt, address)}"}`)) {
    return 'The address beside the record does not fit it.'
  }
  const fits =
    context === undefined
      ? !text.includes('"context_sha256":"')
      : text.includes(`"context_sha256":"${commitment(salt, context)}"`)
  return fits ? undefined : 'The context beside the record does not fit it.'
}

const DOCUMENT_MEMBERS = ['"datasets_sha256":"', '"robots_sha256":"', '"sha256":"'] as const
const HASH_LENGTH = 64

/** Finds the documents that a record names, by their hashes. */
export function listDocuments(text: string): readonly string[] {
  return DOCUMENT_MEMBERS.flatMap((member) => {
    const [, ...rests] = text.split(member)
    return rests.map((rest) => rest.slice(0, HASH_LENGTH))
  })
}
