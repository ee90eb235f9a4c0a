import { type AxisResult, failed, notProvided, passed } from './axis-result.ts'
import { readCosignatures, type Witness } from './cosignature.ts'
import { counted } from './counted.ts'
import type { Evidence, EvidenceAnchor } from './evidence-form.ts'
import { isConsistent } from './tree.ts'

/**
 * The finding about one timestamp. `good`: signed by an authority that the caller trusts; `untrusted`: by another;
 * `unknown`: the caller named none.
 */
export type TimestampFinding =
  | {
      readonly state: 'good' | 'untrusted' | 'unknown'
      /** The stamped bytes existed before, ISO 8601 in UTC. */
      readonly time: string
      /** Name of the certificate that signed. */
      readonly signer: string
    }
  | { readonly state: 'bad'; readonly reason: string }

/** The findings about the timestamps of one file; `undefined` for a response that was not checked. */
export type TimestampFindings = (response: Uint8Array, checkpoint: string) => TimestampFinding | undefined

/** The axis of time, and before when all records existed where that is proved. */
export interface TimeResult {
  readonly axis: AxisResult
  readonly provedBefore?: string | undefined
}

/** The members of evidence that its time rests on. */
type Anchored = Pick<Evidence, 'anchors' | 'unanchored' | 'checkpoint'>

/** Checks the time from outside: what is missing is not provided, and what is there must be good. */
export function time(
  evidence: Anchored,
  records: readonly { readonly seq: number }[],
  findings: TimestampFindings | undefined,
  witnesses: readonly Witness[],
): TimeResult {
  const { anchors = [], unanchored } = evidence
  if (anchors.length === 0) return { axis: notProvided(describeMissing(unanchored)) }
  const stray = anchors.find((anchor) => !isOfLog(anchor, evidence))
  if (stray !== undefined) {
    return {
      axis: failed(`The log does not continue the checkpoint at size ${stray.checkpoint.size} that was timestamped.`),
    }
  }
  const stamps: Stamp[] = []
  let unread = 0
  for (const { checkpoint, text, timestamps } of anchors) {
    const { size } = checkpoint
    for (const { authority, response } of timestamps) {
      const finding = findings?.(response, text)
      if (finding === undefined) unread++
      else if (finding.state === 'bad') {
        return { axis: failed(`The timestamp of ${authority} is not valid: ${finding.reason}.`) }
      } else stamps.push({ ...finding, size, isWitness: false })
    }
    for (const { name: signer, time, state } of readCosignatures(checkpoint, witnesses)) {
      if (state === 'bad') return { axis: failed(`The cosignature of ${signer} is not valid.`) }
      stamps.push({ state, time, signer, size, isWitness: true })
    }
  }
  if (unread > 0 && !stamps.some(({ state }) => state === 'good')) {
    return { axis: notProvided(`No check ran for ${counted(unread, 'timestamp')} in the file.`) }
  }
  return judgeTimes(stamps, records)
}

/** Is what an authority or a witness says; that of a witness is `good` or `unknown`. */
type Stamp = Exclude<TimestampFinding, { readonly state: 'bad' }> & {
  readonly size: number
  readonly isWitness: boolean
}

function describeStamp({ time, signer, isWitness }: Stamp): string {
  return isWitness ? `${signer} witnessed the checkpoint at ${time}.` : `${signer} stamped the checkpoint at ${time}.`
}

function judgeTimes(stamps: readonly Stamp[], records: readonly { readonly seq: number }[]): TimeResult {
  const trusted = stamps.filter(({ state }) => state === 'good').sort((x, y) => (x.time < y.time ? -1 : 1))
  const [first] = trusted
  if (first === undefined) {
    const list = stamps.map(({ signer, time }) => `${signer} says ${time}`).join(', ')
    return stamps.some(({ state }) => state === 'untrusted')
      ? { axis: failed(`No timestamp is signed by an authority that you trust: ${list}.`) }
      : { axis: notProvided(`${list}; nothing proves who that is: give the certificate, or the key of the witness.`) }
  }
  const last = records.at(-1)?.seq ?? 0
  const covering = trusted.filter(({ size }) => size > last)
  if (covering[0] !== undefined) {
    const stamp = covering.find(({ isWitness }) => !isWitness)
    const proofs = covering.filter((one) => one === stamp || one.isWitness)
    return { axis: passed(proofs.map(describeStamp).join(' ')), provedBefore: covering[0].time }
  }
  const covered = records.filter(({ seq }) => seq < first.size).length
  if (covered === 0) return { axis: notProvided('No timestamp in the file covers these records.') }
  return {
    axis: notProvided(
      `${covered} of ${counted(records.length, 'record')} proved before ${first.time}, by the ${first.isWitness ? 'cosignature' : 'timestamp'} of ${first.signer}; nothing covers the rest yet.`,
    ),
  }
}

function describeMissing(unanchored: string | undefined): string {
  return unanchored === undefined
    ? 'The file has no timestamp.'
    : `The file has no timestamp. The service states, without a signature: ${unanchored}`
}

function isOfLog({ checkpoint: { origin, size, root }, proof }: EvidenceAnchor, { checkpoint }: Anchored): boolean {
  return origin === checkpoint.origin && isConsistent(size, root, checkpoint.size, checkpoint.root, proof)
}
