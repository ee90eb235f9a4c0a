import { type Grown, parseCheckpoint, parseWitness, readCosignatures, type Witness } from '@sallyport/ledger'
import { type Answer, type AskPorts, findTimeFault, post } from './ask-authority.ts'

/** `NamedWitness` has the submission prefix of a witness, and its verifier key. */
export interface NamedWitness {
  readonly url: string
  readonly vkey: string
}

/** Statuses by which a witness refuses (C2SP tlog-witness). */
const REFUSALS: Readonly<Record<number, string>> = {
  403: 'it does not know the key of this ledger',
  409: 'it has seen another size of the log',
  422: 'it reports that the log is not consistent with the log it has seen',
}

/** Asks a witness to cosign a checkpoint (add-checkpoint), and checks all of its answer. Rejects as `grown.prove` does, and for a key that is none. */
export async function askWitness(
  { url, vkey }: NamedWitness,
  note: string,
  grown: Grown,
  ports: AskPorts,
): Promise<Answer> {
  const witness = parseWitness(vkey)
  const { origin, size } = parseCheckpoint(note) ?? { origin: '', size: 0 }
  let old = grown.from
  for (let isAgain = false; ; isAgain = true) {
    const hashes = old === 0 || old === size ? [] : await grown.prove(old)
    const lines = [`old ${old}`, ...hashes.map((hash) => Buffer.from(hash).toString('base64')), '', note]
    const body = { type: 'text/plain; charset=utf-8', bytes: Buffer.from(lines.join('\n')) }
    const answer = await post(`${url.replace(/\/$/, '')}/add-checkpoint`, body, ports)
    if (answer.state === 'failed') return answer
    const { status } = answer
    const text = Buffer.from(answer.body).toString()
    if (status === 409 && !isAgain && /^\d{1,15}\n$/.test(text)) {
      // The size of what it cosigned last: after a restart of ours, or where its last answer was lost.
      old = Number(text)
      if (old <= size) continue
      return { state: 'refused', reason: `it has seen ${old} records of ${origin}, which has ${size}` }
    }
    if (status === 404) return { state: 'unknown', reason: `it does not know the log ${origin}` }
    if (status === 200) return readAnswer(note, text, witness, ports.now())
    const reason = REFUSALS[status]
    return reason === undefined
      ? { state: 'failed', reason: `it responded with status ${status}` }
      : { state: 'refused', reason }
  }
}

function readAnswer(note: string, body: string, witness: Witness, now: number): Answer {
  const cosigned = parseCheckpoint(`${note}${body}`)
  if (cosigned === undefined) return { state: 'refused', reason: 'it cannot be read' }
  const found = readCosignatures(cosigned, [witness]).filter(({ state }) => state !== 'unknown')
  const [first] = found
  if (first === undefined || found.some(({ state }) => state === 'bad')) {
    return { state: 'refused', reason: `its cosignature is not one of ${witness.name} on this checkpoint` }
  }
  const { time, line, name: signer } = first
  const fault = findTimeFault(time, now)
  return fault === undefined
    ? { state: 'stamped', response: Buffer.from(line), time, signer }
    : { state: 'refused', reason: fault }
}
