import { type AxisResult, failed, notProvided, passed } from './axis-result.ts'
import { counted } from './counted.ts'
import { ATTESTATION_TYPE, type Evidence, type EvidenceRecord } from './evidence-form.ts'
import { findContradiction, followSuccession, type LedgerKey } from './keys.ts'
import { dssePreimage, isSignature, isSignedBy } from './note.ts'

/** The members of evidence that are signed, and by whom. */
type Signed = Pick<Evidence, 'origin' | 'createdAt' | 'records' | 'checkpoint' | 'earlier' | 'keys'>

/** Checks who signed. Keys that lie in the file itself can show a bad signature, and never a good one. */
export function authenticity(evidence: Signed, trusted: readonly LedgerKey[] | undefined): AxisResult {
  const { origin, records, checkpoint, earlier } = evidence
  const keyLog = `${origin}/keys`
  const contradiction = findContradiction(evidence.keys, trusted ?? [], keyLog)
  if (contradiction !== undefined) return failed(contradiction)
  const keys = trusted === undefined ? evidence.keys : followSuccession(trusted, evidence.keys, keyLog)
  const newest = records.at(-1) as EvidenceRecord
  for (const entry of records) {
    const preimage = dssePreimage(ATTESTATION_TYPE, entry.bytes)
    const good = keys.filter((key) =>
      entry.signatures.some(({ kid, signature }) => kid === key.kid && isSignature(key.publicKey, preimage, signature)),
    )
    const reason = findRefusal(good, evidence, entry) ?? findStranger(good, entry)
    if (reason !== undefined) return failed(`Attestation ${entry.attestationId}: ${reason}`)
  }
  const checkpoints = [checkpoint, ...(earlier === undefined ? [] : [earlier.checkpoint])]
  let others = 0
  for (const signed of checkpoints) {
    const good = keys.filter((key) => isSignedBy(signed, origin, key.publicKey))
    // An earlier checkpoint may be signed by a key that has ended since; the newest must be as fresh as the records.
    const reason = findRefusal(good, evidence, signed === checkpoint ? newest : undefined)
    if (reason !== undefined) return failed(`The checkpoint at size ${signed.size}: ${reason}`)
    others += signed.signatures.length - good.length
  }
  const unread =
    others === 0 ? '' : ` ${counted(others, 'other signature')} under checkpoints: nothing is proved by that.`
  if (trusted === undefined) {
    return notProvided(
      `The signatures match the keys in the file, which proves nothing. Pass the keys of the service.${unread}`,
    )
  }
  return passed(
    `Every record and checkpoint is signed by a key that you trust. The file has ${counted(evidence.keys.length, 'key')}; other keys count only if a trusted key has handed over to them.${unread}`,
  )
}

/** Why signatures by these keys do not count; `undefined` when one does. */
function findRefusal(
  signers: readonly LedgerKey[],
  { createdAt }: Pick<Evidence, 'createdAt'>,
  signed: EvidenceRecord | undefined,
): string | undefined {
  if (signers.length === 0) return 'no good signature by a trusted key.'
  const unrevoked = signers.filter(({ revokedAt }) => revokedAt === undefined)
  if (unrevoked.length === 0) return 'only a revoked key signed it.'
  const issued = signed === undefined ? 0 : Date.parse(signed.record.issuedAt)
  const alive = unrevoked.filter(({ expires }) => expires === undefined || issued <= expires * 1000)
  if (alive.length === 0) return 'only a key signed it that had been retired when the record was made.'
  // An export signs the records again, by the key of that moment. A key's beginning is rounded up to a second.
  const madeBy = Math.ceil(Date.parse(createdAt) / 1000)
  return alive.some(({ notBefore }) => notBefore <= madeBy)
    ? undefined
    : 'only a key signed it that was not yet in use when the file was made.'
}

/** Returns what is wrong where a record has a signature besides those that are valid. */
function findStranger(good: readonly LedgerKey[], { signatures }: EvidenceRecord): string | undefined {
  const stranger = signatures.find(({ kid }) => !good.some((key) => key.kid === kid))
  return stranger && `its signature by ${stranger.kid} is not valid, or no trusted key vouches for that key.`
}
