import { anchors, createOutbound } from '@sallyport/engine'
import { openLedger } from '@sallyport/ledger'
import {
  createMemoryArchive,
  createMemoryLedger,
  MADE_ATTESTATION,
  MADE_DATASETS,
  MADE_POLICY,
  madeRandomness,
  madeSigner,
} from '@sallyport/ledger/testing'
import { verifyEvidence } from '@sallyport/ledger/verify'
import t, { type Test } from 'tap'
import { attest, awaitEvidence, openWithFile, runCommand } from './commands.ts'
import { type Fault, type ServedWitness, serveWitness } from './witness.ts'

const NAME = 'witness.example/w1'
const NET = { outbound: true, allowPrivate: ['127.0.0.0/8'] }

/** Opens a ledger in memory whose checkpoints go to a witness, with a clock that the test moves. */
async function witnessed(t: Test, witness: ServedWitness) {
  let ahead = 0
  const now = () => Date.now() + ahead
  const answers: string[] = []
  const dns = { servers: ['127.0.0.1:1'], timeoutMs: 10, reverseNames: false }
  const { feeds: fetch } = createOutbound({ net: NET, dns })
  const keys = { timestamps: [], witnesses: [{ url: witness.url, vkey: witness.vkey }] }
  const hooks = { fetch, now, onAnswer: (state: string) => answers.push(state) }
  const stamper = anchors.createStamper({ ledger: keys, net: NET }, hooks)
  if (stamper === undefined) throw new Error('nobody is asked')
  t.teardown(() => stamper.close())
  const ledger = await openLedger({
    store: createMemoryLedger('sallyport/0123456789abcdef'),
    archive: createMemoryArchive(),
    clock: { now },
    randomness: madeRandomness(),
    loadSigner: async () => madeSigner(1),
    stamp: stamper.stamp,
    unanchored: stamper.unanchored,
  })
  for (const document of [MADE_POLICY, MADE_DATASETS]) await ledger.keep(document)
  const { keys: made } = await ledger.keys()
  witness.ledger = made[0]?.vkey
  witness.knows = (origin) => origin === 'sallyport/0123456789abcdef/t/a'
  return {
    ledger,
    stamper,
    answers,
    pass(ms: number) {
      ahead += ms
    },
    /** Records so often, has the log anchored, and returns the evidence of the last record. */
    async grow(count: number) {
      let last = 0
      for (let at = 0; at < count; at++) {
        last = (await ledger.attest('t/a', MADE_ATTESTATION, { address: '192.0.2.1' })).attestationId
      }
      await ledger.checkpoint()
      await ledger.anchor(0)
      return ledger.evidence('t/a', { attestationId: last })
    },
  }
}

t.test('a witness cosigns a log as it grows, and the verifier says so', async (t) => {
  const witness = await serveWitness(t)
  const { ledger, grow, pass, stamper, answers } = await witnessed(t, witness)
  for (const [count, statuses] of [
    // Of the log of keys, too, the witness is asked once an hour, and does not know it.
    [3, [404, 200]],
    [4, [200]],
    [1, [200]],
    [8, [200]],
    [1_000, [200]],
  ] as const) {
    witness.statuses.length = 0
    const evidence = await grow(count)
    t.same(witness.statuses, statuses)
    const found = verifyEvidence(evidence, await ledger.keys(), undefined, [witness.vkey])
    const detail = /^witness\.example\/w1 witnessed the checkpoint at 20\S+Z\.$/
    t.match(found, { ok: true, axes: { time: { outcome: 'pass', detail } } })
    t.ok(Math.abs(Date.parse(found.provedBefore ?? '') - Date.now()) < 60_000)
    const untrusted = /^witness\.example\/w1 says 20\S+; nothing proves who that is/
    const { time } = verifyEvidence(evidence, await ledger.keys()).axes
    t.match(time, { outcome: 'not_provided', detail: untrusted })
  }
  t.match(stamper.fault(), `${NAME}: it does not know the log sallyport/0123456789abcdef/keys`)
  t.same(answers.slice(0, 3), ['refused', 'stamped', 'stamped'])

  witness.fault = 'key'
  t.notMatch(await grow(2), { anchors: [{ checkpoint: /\n1018\n/ }] }, 'its answer does not count')
  t.match(stamper.fault(), /its cosignature is not one of witness\.example\/w1 on this checkpoint/)
  witness.fault = undefined
  witness.statuses.length = 0
  await grow(1)
  t.same(witness.statuses, [], 'it is left alone for a minute')
  pass(61_000)
  const evidence = await grow(1)
  t.same(witness.statuses, [409, 200], 'it has seen what we do not know of')
  t.equal(verifyEvidence(evidence, await ledger.keys(), undefined, [witness.vkey]).axes.time.outcome, 'pass')
  witness.seen.set('sallyport/0123456789abcdef/t/a', { size: 5_000, root: Buffer.alloc(32) })
  await grow(1)
  t.match(stamper.fault(), /it has seen 5000 records of \S+\/t\/a, which has 1021/)
})

t.test('a witness that is away, slow or lies delays nothing, and is said', { timeout: 120_000 }, async (t) => {
  const said: Readonly<Record<Fault, RegExp>> = {
    away: /responded with status 500/,
    garbage: /cannot be read/,
    key: /not one of witness\.example\/w1 on this checkpoint/,
    other: /not one of witness\.example\/w1 on this checkpoint/,
    stranger: /not one of witness\.example\/w1 on this checkpoint/,
    time: /far from the clock of this machine/,
    rewritten: /the log is not consistent with the log it has seen/,
    hang: /no result within 10000 ms/,
  }
  for (const [fault, reason] of Object.entries(said)) {
    const witness = await serveWitness(t)
    const { grow, stamper, ledger } = await witnessed(t, witness)
    await grow(3)
    witness.fault = fault as Fault
    const evidence = await grow(2)
    t.match(stamper.fault(), reason, fault)
    t.match(evidence?.unanchored, reason, 'the export says why')
    t.match(verifyEvidence(evidence, await ledger.keys(), undefined, [witness.vkey]), {
      ok: true,
      axes: { time: { outcome: 'not_provided' } },
    })
  }
  const unknown = await serveWitness(t)
  const { grow, stamper } = await witnessed(t, unknown)
  unknown.ledger = unknown.vkey
  await grow(1)
  t.match(stamper.fault(), /it does not know the key of this ledger/)
})

t.test(
  'a service has its records cosigned, and doctor, metrics and commands say so',
  { timeout: 120_000 },
  async (t) => {
    const witness = await serveWitness(t)
    const ledger = { witnesses: [{ url: `${witness.url}/`, vkey: witness.vkey }] }
    const { config, file, sallyport, findings, ...opened } = await openWithFile(t, { ledger, net: NET })
    const write = (name: string, content: unknown) => opened.write(name, JSON.stringify(content))
    const keys = await sallyport.provenance.keys()
    witness.ledger = keys.keys[0]?.vkey
    witness.knows = (origin) => origin !== 'sallyport/doctor'
    const evidence = await awaitEvidence(sallyport, await attest(sallyport), ({ anchors }) => anchors?.length === 1)
    t.match(evidence.anchors, [{ timestamps: [], cosignatures: /^— witness\.example\/w1 \S+\n$/ }])
    t.match(await sallyport.metrics().metrics(), /sallyport_ledger_timestamps_total\{outcome="stamped"\} [1-9]/)
    t.match(await findings(), [{ state: 'ok', found: `${NAME} works as a witness.` }])
    await sallyport.close()

    const [saved, trusted] = [write('evidence.json', evidence), write('keys.json', keys)]
    for (const [more, expected] of [
      [
        ['--witness', witness.vkey],
        { status: 0, out: /^time +pass +witness\.example\/w1 witnessed the checkpoint at 20/m },
      ],
      [[], { status: 0, err: '', out: /^time +not provided +witness\.example\/w1 says 20/m }],
      [['--witness', 'w1'], { status: 2, err: /"w1" is not the verifier key of a witness/ }],
    ] as const) {
      t.match(runCommand('evidence', 'verify', saved, '--keys', trusted, ...more), expected)
    }
    const proved = /^time: pass: [\s\S]+^ {2}t\/site: 1 record proved before 20\S+Z$/m
    t.match(runCommand('ledger', 'verify', '--config', file), { status: 0, out: proved })
    witness.fault = 'away'
    const found = /does not work as a witness: it responded with status 500/
    t.match(await findings(), [{ state: 'fail', passing: true, found }])
    const check = (changed: object) =>
      runCommand('config', 'check', write('changed.json', { ...config, ...changed })).err
    t.match(
      check({ ledger: { witnesses: [{ url: witness.url, vkey: 'w1' }] } }),
      /ledger\.witnesses\.0\.vkey.*is not a witness verifier key/,
    )
    t.match(check({ net: { outbound: false } }), /ledger\.witnesses: .*net\.outbound is false/)
  },
)
