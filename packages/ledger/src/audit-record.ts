import { createPassage, createSearch, endWithNumber, NUMBER_ROOM, standsAt } from './audit-bytes.ts'
import type { StoredRecord } from './ports.ts'
import type { Subject } from './record.ts'
import { commitment, createCommitter, type LeafMemory } from './verify/hash.ts'

/** The text of a record, one character a byte, so that no byte is lost by being read. */
export function textOf({ bytes }: StoredRecord): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** What is said where either of two neighbours may have been changed. */
export const UNLINKED = 'The record does not link to the one before it.'

/*
 * What is asked of every record is first looked for in its bytes, where the record before it had it. Only of one that
 * has it elsewhere, or not at all, is a text made, and searched: that decides, and the place is then learned from it.
 */

/**
 * Why a record does not belong where it lies. The members are looked for in the canonical text and not parsed: quotes
 * inside a text are escaped, so nothing else can look like them.
 */
function placeFault(
  text: string,
  { seq, attestationId }: StoredRecord,
  wantedSeq: number,
  link: string,
  before: StoredRecord | undefined,
): string | undefined {
  if (seq !== wantedSeq) return `Record ${wantedSeq} is missing.`
  // The two members are neighbours in canonical order.
  if (!text.includes(`"prev":"${link}","seq":${seq},`)) {
    return text.includes(`"prev":"${link}",`) ? 'The record lies at another place than it names.' : UNLINKED
  }
  if (!text.startsWith(`{"attestation_id":${attestationId},`)) return 'The record lies at another place than it names.'
  if (before !== undefined && before.attestationId >= attestationId) return 'The ids do not rise.'
  return undefined
}

/** Says of one record after the other why it does not belong where it lies. */
export function createPlaceCheck() {
  const start = '{"attestation_id":'
  const before = '"prev":"'
  const between = '","seq":'
  const id = createPassage(start, NUMBER_ROOM)
  const place = createPassage(before + '0'.repeat(64) + between, NUMBER_ROOM)
  let fromEnd = 0
  return (leaf: LeafMemory, record: StoredRecord, wantedSeq: number, link: string, last: StoredRecord | undefined) => {
    const { seq, attestationId } = record
    if (seq === wantedSeq && (last === undefined || last.attestationId < attestationId)) {
      endWithNumber(id, start.length, attestationId)
      place.bytes.write(link, before.length, 'latin1')
      endWithNumber(place, before.length + 64 + between.length, seq)
      if (standsAt(leaf, 0, id) && standsAt(leaf, leaf.length - fromEnd, place)) return undefined
    }
    const text = textOf(record)
    fromEnd = text.length - text.indexOf(before)
    return placeFault(text, record, wantedSeq, link, last)
  }
}

const ISSUED = '"issued_at":"'
const MOMENT_BYTES = '2026-11-21T02:00:00.000Z'.length
const QUOTE = 34

/**
 * Says of one record after the other why its time is none, or is before that of the record before it: times that rise
 * are what the evidence about a range counts on, and a record that was issued later must not look older.
 */
export function createTimeCheck() {
  const issued = createPassage(ISSUED)
  // Digits at fixed places: the bytes are in the order of the moments. Before all of them.
  const newest = new Uint8Array(MOMENT_BYTES)
  let fromEnd = 0
  return (leaf: LeafMemory, record: StoredRecord): string | undefined => {
    if (!standsAt(leaf, leaf.length - fromEnd, issued)) {
      const text = textOf(record)
      const at = text.indexOf(ISSUED)
      fromEnd = at === -1 ? 0 : text.length - at
    }
    const start = leaf.length - fromEnd + ISSUED.length
    const end = start + MOMENT_BYTES
    if (fromEnd === 0 || end >= leaf.length || leaf.view.getUint8(end) !== QUOTE) {
      return 'The record does not say when it was issued.'
    }
    let later = false
    for (let index = 0; index < MOMENT_BYTES; index++) {
      const byte = leaf.view.getUint8(start + index)
      const before = newest[index] as number
      if (!later && byte < before) return 'The record says an earlier time than the one before it.'
      later ||= byte > before
      newest[index] = byte
    }
    return undefined
  }
}

/** Why what lies beside a record, where it can be erased, is not what was recorded. */
function besideFault(text: string, { address, salt, context }: Subject): string | undefined {
  if (!text.includes(`"subject":{"commit":"${commitment(salt, address)}"}`)) {
    return 'The address beside the record does not fit it.'
  }
  const good =
    context === undefined
      ? !text.includes('"context_sha256":"')
      : text.includes(`"context_sha256":"${commitment(salt, context)}"`)
  return good ? undefined : 'The context beside the record does not fit it.'
}

const SALT_BYTES = 32
const COMMIT = '"subject":{"commit":"'
const CONTEXT = '"context_sha256":"'

/** Says of one record after the other why what lies beside it is not what was recorded. */
export function createBesideCheck() {
  const commit = createPassage(`${COMMIT}${'0'.repeat(64)}"}`)
  const context = createPassage(`${CONTEXT}${'0'.repeat(64)}"`)
  const hasContext = createSearch(CONTEXT)
  const commitTo = createCommitter()
  let fromEnd = 0
  let fromStart = 0
  return (leaf: LeafMemory, record: StoredRecord, subject: Subject): string | undefined => {
    // What stands before the address would otherwise be free to take its first characters.
    if (subject.salt.length !== SALT_BYTES) return 'The salt beside the record is not as long as it was.'
    commit.bytes.write(commitTo(subject.salt, subject.address), COMMIT.length, 'latin1')
    if (standsAt(leaf, leaf.length - fromEnd, commit)) {
      if (subject.context === undefined) {
        if (!hasContext(leaf)) return undefined
      } else {
        context.bytes.write(commitTo(subject.salt, subject.context), CONTEXT.length, 'latin1')
        if (standsAt(leaf, fromStart, context)) return undefined
      }
    }
    const text = textOf(record)
    fromEnd = text.length - text.indexOf(COMMIT)
    if (subject.context !== undefined) fromStart = text.indexOf(CONTEXT)
    return besideFault(text, subject)
  }
}

/** Members that name a document; that of the policy is the last before the link, whatever stands before it. */
const DOCUMENT_MEMBERS = [
  { member: '"datasets_sha256":"', fromEnd: false },
  { member: '"sha256":"', fromEnd: true },
] as const

/** Notes the documents that one record after the other names; what stands as in the record before was noted then. */
export function createDocumentNoter(documents: Set<string>): (leaf: LeafMemory, record: StoredRecord) => void {
  const members = DOCUMENT_MEMBERS.map(({ member, fromEnd }) => ({
    member,
    fromEnd,
    noted: createPassage(member, 64),
    place: -1,
  }))
  return (leaf, record) => {
    for (const known of members) {
      const { member, fromEnd, noted, place } = known
      if (standsAt(leaf, fromEnd ? leaf.length - place : place, noted)) continue
      const text = textOf(record)
      const at = text.indexOf(member)
      if (at === -1) continue
      known.place = fromEnd ? text.length - at : at
      const hash = text.slice(at + member.length, at + member.length + 64)
      noted.length = member.length + noted.bytes.write(hash, member.length, 'latin1')
      documents.add(hash)
    }
  }
}
