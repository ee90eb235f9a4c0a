import type { StoredRecord } from './ports.ts'
import type { Subject } from './record.ts'
import { commitment } from './verify/verify-evidence.ts'

/** The text of a record, one character a byte, so that no byte is lost by being read. */
export function textOf({ bytes }: StoredRecord): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** What is said where either of two neighbours may have been changed. */
export const UNLINKED = 'The record does not link to the one before it.'

/**
 * Why a record does not belong where it lies. The members are looked for in the canonical text and not parsed: quotes
 * inside a text are escaped, so nothing else can look like them.
 */
export function placeFault(
  text: string,
  { seq, attestationId }: StoredRecord,
  wantedSeq: number,
  link: string,
  before: StoredRecord | undefined,
  find: (text: string, wanted: string) => boolean,
): string | undefined {
  if (seq !== wantedSeq) return `Record ${wantedSeq} is missing.`
  // The two members are neighbours in canonical order.
  if (!find(text, `"prev":"${link}","seq":${seq},`)) {
    return text.includes(`"prev":"${link}",`) ? 'The record lies at another place than it names.' : UNLINKED
  }
  if (!text.startsWith(`{"attestation_id":${attestationId},`)) return 'The record lies at another place than it names.'
  if (before !== undefined && before.attestationId >= attestationId) return 'The ids do not rise.'
  return undefined
}

/** Why what lies beside a record, where it can be erased, is not what was recorded. */
export function besideFault(text: string, { address, salt, context }: Subject): string | undefined {
  if (!text.includes(`"subject":{"commit":"${commitment(salt, address)}"}`)) {
    return 'The address beside the record does not fit it.'
  }
  const good =
    context === undefined
      ? !text.includes('"context_sha256":"')
      : text.includes(`"context_sha256":"${commitment(salt, context)}"`)
  return good ? undefined : 'The context beside the record does not fit it.'
}

export const DOCUMENT_MEMBERS = ['"datasets_sha256":"', '"sha256":"']

/** Finds a part where the part like it stood in the record before, counted from the end, or anywhere else. */
export function createFinder(): (text: string, wanted: string) => boolean {
  let fromEnd = 0
  return (text, wanted) => {
    if (text.startsWith(wanted, text.length - fromEnd)) return true
    const at = text.indexOf(wanted)
    fromEnd = text.length - at
    return at !== -1
  }
}

/** Notes the hash behind a member; what stands where it stood in the record before was noted then. */
export function createDocumentNoter(member: string, documents: Set<string>): (text: string) => void {
  let noted = member
  let place = 0
  return (text) => {
    if (text.startsWith(noted, place)) return
    place = text.indexOf(member)
    if (place === -1) return
    noted = text.slice(place, place + member.length + 64)
    documents.add(noted.slice(member.length))
  }
}
