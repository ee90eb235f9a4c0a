import { createHash } from 'node:crypto'
import { type EvidenceJson, type Jwks, openLedger, type Statement } from '@sallyport/ledger'
import {
  createMemoryArchive,
  createMemoryLedger,
  MADE_ATTESTATION,
  MADE_DATASETS,
  MADE_POLICY,
  madeRandomness,
  madeSigner,
} from '@sallyport/ledger/testing'

/** Holds evidence and the keys that a verifier trusts. Without `keys` the verifier trusts none. */
export interface EvidenceCase {
  readonly name: string
  readonly evidence: unknown
  readonly keys?: unknown
  /** Verifier keys of the witnesses that are trusted. */
  readonly witnesses?: readonly string[] | undefined
}

const START = Date.parse('2026-11-21T02:00:00.000Z')

const FINDINGS: readonly Partial<Statement>[] = [
  {},
  {
    claim: 'EU',
    finding: { networkOrigin: 'residential_clean', anonymized: false, method: 'asn', confidence: 0.6, country: 'FR' },
    policy: { id: 'made', sha256: MADE_POLICY.sha256, action: 'allow', reason: 'match' },
  },
  {
    finding: { networkOrigin: 'unknown', anonymized: false, method: 'reserved', confidence: 1 },
    policy: { id: 'made', sha256: MADE_POLICY.sha256, action: 'flag', reason: 'reserved' },
  },
  {
    claim: 'US',
    finding: {
      networkOrigin: 'hosting',
      anonymized: false,
      method: 'range:hosting',
      confidence: 0.1234,
      asn: 4294967295,
    },
    policy: { id: 'made', sha256: MADE_POLICY.sha256, action: 'flag', reason: 'unknown' },
    basis: { ...MADE_ATTESTATION.basis, addressFrom: 'header:x-forwarded-for', degraded: 'geo,ranges' },
  },
]

/** Cases of version 2: members that are not signed can be changed, and no verifier reads a timestamp without certificates. */
export const ANCHORED = [
  'with a timestamp',
  'without its timestamp',
  'with a cosignature',
  'with a cosignature of a stranger',
  'with the cosignature of another checkpoint',
] as const

/** Evidence of every kind out of one made ledger: the same to the byte in every run. */
export async function madeEvidence(): Promise<readonly EvidenceCase[]> {
  let now = START
  let signer = madeSigner(1)
  let reason: string | undefined
  let isWitnessed = false
  const store = createMemoryLedger('sallyport/0123456789abcdef')
  const ledger = await openLedger({
    store,
    archive: createMemoryArchive(),
    clock: { now: () => now },
    randomness: madeRandomness(),
    loadSigner: async () => signer,
    stamp: async (note) => ({
      timestamps: isWitnessed ? {} : { 'https://time.example/': Buffer.from(note) },
      cosignatures: isWitnessed ? await cosign(note, now) : '',
    }),
    unanchored: () => reason,
  })
  for (const document of [MADE_POLICY, MADE_DATASETS]) await ledger.keep(document)
  for (let count = 0; count < 12; count++) {
    now += 1000
    const context = count % 3 === 0 ? { context: `{"order":${count},"text":"é\\u0000"}` } : {}
    const attestation = { ...MADE_ATTESTATION, ...FINDINGS[count % FINDINGS.length] }
    await ledger.attest(count === 5 ? 't/b' : 't/a', attestation, { address: `2001:db8::${count}`, ...context })
    if (count === 3 || count === 8) await ledger.checkpoint()
  }
  const evidence = async (query: Parameters<typeof ledger.evidence>[1], log = 't/a'): Promise<EvidenceJson> => {
    const found = await ledger.evidence(log, query)
    if (found === undefined) throw new Error('no such evidence')
    return found
  }
  const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()
  const first = await ledger.keys()
  const one = await evidence({ attestationId: 3 })
  const cases: EvidenceCase[] = []
  const add = (name: string, evidence: EvidenceJson, keys?: Jwks, witnesses?: readonly string[]) =>
    cases.push({ name, evidence, ...(keys && { keys }), ...(witnesses && { witnesses }) })
  add('one record', one, first)
  add('one record, nobody trusted', one)
  add('the first record', await evidence({ attestationId: 2 }), first)
  add('the only record of a log', await evidence({ attestationId: 7 }, 't/b'), first)
  add('the last record', await evidence({ attestationId: 13 }), first)
  add('a whole log', await evidence({ from: at(0), to: at(60) }), first)
  add('a range within', await evidence({ from: at(3), to: at(5) }), first)
  await store.eraseSubject('2001:db8::1')
  add('erased', await evidence({ attestationId: 3 }), first)
  add('partly erased', await evidence({ from: at(1), to: at(3) }), first)
  now += 1000
  signer = madeSigner(2)
  await ledger.rotate(signer, false)
  now += 1000
  await ledger.attest('t/a', MADE_ATTESTATION, { address: '192.0.2.1' })
  const second = await ledger.keys()
  await ledger.checkpoint()
  await ledger.attest('t/a', MADE_ATTESTATION, { address: '192.0.2.2' })
  await ledger.checkpoint()
  const later = await evidence({ attestationId: 15 })
  add('after a rotation, by the new keys', later, second)
  add('after a rotation, by keys kept from before', later, first)
  add('from before a rotation, by the new keys', one, second)
  now += 1000
  signer = madeSigner(3)
  await ledger.rotate(signer, true)
  const third = await ledger.keys()
  add('signed by a key that was given up', later, third)
  add('signed again by the next key after a key was given up', await evidence({ attestationId: 15 }), third)
  add('other keys', one, onlyKey(third, 2))
  add('a retired key for a later record', withoutSuccession(later), retireKey(second))
  await ledger.anchor(0)
  await ledger.attest('t/c', MADE_ATTESTATION, { address: '192.0.2.3' })
  add(ANCHORED[0], await evidence({ attestationId: 15 }), third)
  reason = 'made: nobody answers'
  /** Returns the evidence of the record at a place in the last log. */
  const ofLast = async (place: number) => {
    const [record] = await store.records('t/c', place, 1)
    return evidence({ attestationId: record?.attestationId ?? 0 }, 't/c')
  }
  add(ANCHORED[1], await ofLast(0), third)
  isWitnessed = true
  now += 1000
  await ledger.attest('t/c', MADE_ATTESTATION, { address: '192.0.2.4' })
  await ledger.checkpoint()
  await ledger.anchor(0)
  const cosigned = await ofLast(1)
  const swapped = JSON.parse(JSON.stringify(cosigned))
  swapped.anchors[0].cosignatures = await cosign('sallyport/other\n1\nAAAA\n\n', now)
  add(ANCHORED[2], cosigned, third, [nameWitness()])
  add(ANCHORED[3], cosigned, third)
  add(ANCHORED[4], swapped, third, [nameWitness()])
  return cases
}

const WITNESS = 'witness.example/w1'

/** Writes the verifier key of the made witness (C2SP signed-note), and the first four bytes of its ID. */
function nameWitness(): string {
  const key = Buffer.concat([Buffer.from([4]), madeSigner(9).publicKey])
  const id = createHash('sha256').update(`${WITNESS}\n`).update(key).digest('hex').slice(0, 8)
  return `${WITNESS}+${id}+${key.toString('base64')}`
}

/** Cosigns a checkpoint as the made witness does at a time in milliseconds (C2SP tlog-cosignature, version 1). */
async function cosign(note: string, at: number): Promise<string> {
  const seconds = Math.floor(at / 1000)
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(seconds))
  const body = note.slice(0, note.indexOf('\n\n') + 1)
  const signature = await madeSigner(9).sign(Buffer.from(`cosignature/v1\ntime ${seconds}\n${body}`))
  const [, id = ''] = nameWitness().split('+')
  return `\u2014 ${WITNESS} ${Buffer.concat([Buffer.from(id, 'hex'), time, signature]).toString('base64')}\n`
}

function onlyKey(jwks: Jwks, index: number): Jwks {
  return { ...jwks, keys: jwks.keys.slice(index, index + 1) }
}

function withoutSuccession(evidence: EvidenceJson): EvidenceJson {
  return { ...evidence, keys: { ...evidence.keys, keys: [] } }
}

/** Ends the second key before the record that it signed. */
function retireKey({ origin, keys }: Jwks): Jwks {
  return { origin, keys: keys.map((key) => ({ ...key, exp: key.nbf })).slice(1) }
}

/** Lists every single change of a member in a piece of evidence: [where, the text of the evidence with that one change]. */
export function tampered(evidence: unknown): readonly (readonly [path: string, text: string])[] {
  return [
    ...listChanges(evidence).map(([path, changed]) => [path.join('.'), JSON.stringify(changed)] as const),
    ...doubledMembers(JSON.stringify(evidence)).map((text, index) => [`member ${index} twice`, text] as const),
  ]
}

/** The text with each object begun by a member that it has already, once written as it is and once with an escape. */
function doubledMembers(text: string): readonly string[] {
  return [...text.matchAll(/\{"((?:[^"\\]|\\.)+)":/g)].flatMap(({ index, 1: name = '' }) => {
    const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`
    return [name, escaped].map((written) => `${text.slice(0, index + 1)}"${written}":null,${text.slice(index + 1)}`)
  })
}

/** Letters that languages take for spaces or digits each in its own way, and texts that are not Unicode. */
export function odd(evidence: EvidenceJson): readonly (readonly [name: string, evidence: unknown])[] {
  const { checkpoint, created_at, records } = evidence
  const [first] = records
  if (first === undefined) throw new Error('evidence without a record')
  const record = Buffer.from(first.dsse.payload, 'base64').toString()
  const spaces = ['\u0085', '\u00a0', '\u001c', '\u180e', '\u200b', '\u2028', '\ufeff', '\u3000']
  const payloads = [
    record.replace(/"address_from":"[^"]*"/, '"address_from":"\\ud800"'),
    record.replace(/"engine":"[^"]*"/, (engine) => `${engine},"\\udc00":""`),
    record.replace('"v":1', '"v":1.0'),
    `\ufeff${record}`,
    ...[31, 32, 5_000].map((deep) => record.replace('{', `{"a":${'{"a":'.repeat(deep - 1)}{}${'}'.repeat(deep - 1)},`)),
  ]
  const change = (name: string, more: object) => [name, { ...evidence, ...more }] as const
  const createdAt = (moment: string) => change(`created at ${moment}`, { created_at: moment })
  const withPayload = (payload: string, index: number) => {
    const dsse = { ...first.dsse, payload: Buffer.from(payload).toString('base64') }
    return change(`payload ${index}`, { records: [{ ...first, dsse }] })
  }
  return [
    ...spaces.map((space) => {
      const renamed = checkpoint.replace('\u2014 sallyport', `\u2014 sally${space}port`)
      return change(`a name with U+${space.charCodeAt(0).toString(16)} in a note`, { checkpoint: renamed })
    }),
    ...['0000-02-30', '2026-02-29', '2026-13-01', '2026-00-10'].map((day) => createdAt(`${day}T00:00:00.000Z`)),
    ...['24:00:00', '23:59:60', '23:60:00'].map((hour) => createdAt(`2026-11-21T${hour}.000Z`)),
    createdAt(created_at.replace('2026', '\u0662\u0660\u0662\u0666')),
    ...payloads.map(withPayload),
  ]
}

type Change = readonly [path: readonly string[], changed: unknown]

function listChanges(value: unknown): readonly Change[] {
  if (Array.isArray(value)) {
    const inner = value.flatMap((entry, index) =>
      listChanges(entry).map(([path, changed]): Change => [[String(index), ...path], value.with(index, changed)]),
    )
    const swapped = value.length > 1 ? [[['swapped'], [value[1], value[0], ...value.slice(2)]] as const] : []
    return [...inner, ...swapped, [['shorter'], value.slice(0, -1)], [['doubled'], [...value, ...value.slice(-1)]]]
  }
  if (typeof value === 'object' && value !== null) {
    const added = ['note', '__proto__', 'constructor'].map((name): Change => {
      return [
        [name, 'added'],
        JSON.parse(JSON.stringify(value).replace(/^\{/, `{"${name}":1${isEmpty(value) ? '' : ','}`)),
      ]
    })
    const members = Object.entries(value).flatMap(([name, member]): readonly Change[] => [
      ...listChanges(member).map(([path, changed]): Change => [[name, ...path], { ...value, [name]: changed }]),
      [[name, 'absent'], Object.fromEntries(Object.entries(value).filter(([other]) => other !== name))] as const,
      [[name, 'null'], { ...value, [name]: null }] as const,
    ])
    return [...added, ...members]
  }
  return scalarChanges(value)
    .map((changed, index): Change => [[`change ${index}`], changed])
    .filter(([, changed]) => changed !== value)
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

function scalarChanges(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [value + 1, value + 0.5, -1, String(value), null]
  if (typeof value !== 'string') return [null]
  const middle = value.length >> 1
  const flipped = String.fromCharCode(value.charCodeAt(middle) ^ 1)
  return [
    value.slice(0, middle) + flipped + value.slice(middle + 1),
    `${value}A`,
    value.slice(1),
    value.replace(/[0-9]/, (digit) => String((Number(digit) + 1) % 10)),
    '',
    7,
  ]
}
