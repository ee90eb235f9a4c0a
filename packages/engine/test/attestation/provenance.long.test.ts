import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { append, madeDraft } from '@sallyport/ledger/testing'
import { verifyEvidence } from '@sallyport/ledger/verify'
import t, { type Test } from 'tap'
import { openSqliteLedger } from '#stores'
import { loadSigningKey } from '../../src/attestation/signing-key.ts'
import type { ConfigInput } from '../../src/config/schema.ts'
import { open, openLedgerTools, type Sallyport } from '../../src/open/index.ts'
import { madeConfig } from '../open/made-sources.ts'
import { openService } from '../open/opened.ts'
import { callApi, requestFrom } from '../open/requests.ts'

const call = (sallyport: Sallyport, key: string | undefined, url: string, body?: object) =>
  callApi(sallyport, url, key, body)

async function opened(t: Test, config: ConfigInput): Promise<{ readonly sallyport: Sallyport; readonly key: string }> {
  const sallyport = await openService(t, config)
  return { sallyport, key: (await sallyport.keyring.issue({})).key }
}

const pem = ({ privateKey }: { readonly privateKey: KeyObject }) => privateKey.export({ type: 'pkcs8', format: 'pem' })
const check = (ip: string, claimed_jurisdiction: string) => ({ ip, claimed_jurisdiction })
const CHECK = '/v1/provenance/check'
const SWISS = check('8.3.0.1', 'CH')

t.test('nothing of a ledger is made before somebody attests', async (t) => {
  const folder = t.testdir()
  const notices: string[] = []
  const onNotice = (code: string, message: string) => notices.push(`${code} ${message}`)
  const sallyport = await openService(t, madeConfig(folder), { onNotice })
  const state = join(folder, 'state')
  t.notOk(existsSync(join(state, 'ledger.db')) || existsSync(join(state, 'signing-key.pem')))
  const { key } = await sallyport.keyring.issue({})
  await call(sallyport, key, CHECK, SWISS)
  t.equal(statSync(join(state, 'signing-key.pem')).mode & 0o777, 0o600)
  t.match(notices, [/^SALLYPORT_DATA_STALE /, /^SALLYPORT_SIGNING_KEY_MADE .*signing-key\.pem was created/])
})

t.test('one service, one test after the other', async (t) => {
  const { sallyport, key } = await opened(t, madeConfig(t.testdir()))

  t.test('a check, its evidence, and the verdict of a verifier that was given the keys', async (t) => {
    const rows = [
      ['8.3.0.1', 'CH', 'vpn'],
      ['8.3.0.1', 'US', 'vpn'],
      ['8.1.0.1', 'US', 'residential_clean'],
      ['10.0.0.1', 'DE', 'unknown'],
    ] as const
    for (const [index, [ip, claim, network_origin]] of rows.entries()) {
      const json = { network_origin, policy_action: 'flag', attestation_id: index + 2 }
      t.match(await call(sallyport, key, CHECK, check(ip, claim)), { status: 200, json })
    }
    const keys = (await call(sallyport, undefined, '/v1/provenance/keys')).json
    const evidence = (await call(sallyport, key, '/v1/provenance/export?attestation_id=2')).json
    const report = verifyEvidence(evidence, keys)
    t.match(report, { ok: true, axes: { authenticity: { outcome: 'pass' }, policy_replay: { outcome: 'pass' } } })
    const record = JSON.parse(Buffer.from(evidence.records[0].dsse.payload, 'base64').toString())
    t.match(record, {
      claim: { jurisdiction: 'CH' },
      finding: { network_origin: 'vpn', anonymized: 'yes', method: 'asn', asn: 209103 },
      policy: { id: 'default', reason: 'anonymized_origin' },
      basis: { address_from: 'request', degraded: 'geo,ranges', engine: /^\d/ },
    })
    t.notOk('country' in record.finding, 'the country is not known, and is not made up')
    const datasets = JSON.parse(evidence.datasets[0].text)
    for (const id of ['asn-csv-v4', 'operators']) {
      const dataset = datasets.find((row: { id: string }) => row.id === id)
      t.match(dataset, { sha256: /^[0-9a-f]{64}$/, date: /^\d{4}-\d\d/ }, id)
    }
    const { sha256: _, ...changed } = datasets[0]
    const forged = [{ ...evidence.datasets[0], text: JSON.stringify([changed]) }]
    t.equal(verifyEvidence({ ...evidence, datasets: forged }, keys).ok, false)
  })

  t.test('a decision made inline is attested in the log of the account that is named', async (t) => {
    const decision = sallyport.decide(requestFrom('8.3.0.1'))
    const attested = await sallyport.provenance.attestDecision(decision, 'de')
    const attestation = { id: 6, claim: 'DE', action: 'flag', reason: 'anonymized_origin' }
    t.match(attested, { action: 'flag', attestation })
    const evidence = await sallyport.provenance.evidence('site', { attestationId: 6 })
    t.match(verifyEvidence(evidence, await sallyport.provenance.keys()), { ok: true })
    t.equal(evidence?.records[0]?.disclosure.state, 'disclosed')
    await t.rejects(sallyport.provenance.attestDecision(decision, 'nowhere'), { code: 'invalid_request' })
  })

  t.test('a context is kept to 8 KiB, and may hold nothing that is not Unicode', async (t) => {
    const withContext = (request_context: object) => call(sallyport, key, CHECK, { ...SWISS, request_context })
    t.equal((await withContext({ text: 'a'.repeat(8180) })).status, 200)
    for (const [context, message] of [
      [{ text: 'a'.repeat(8190) }, /request_context: more than 8192/],
      [{ text: '\ud800' }, /not Unicode/],
      [{ number: JSON.parse('1e400') }, /not finite/],
    ] as const)
      t.match(await withContext(context), { status: 400, json: { message } })
  })

  t.test('a closed service attests nothing more and says so', async (t) => {
    const decision = sallyport.decide(requestFrom('8.3.0.1'))
    await sallyport.provenance.attestDecision(decision, 'CH')
    await sallyport.close()
    await t.rejects(sallyport.provenance.attestDecision(decision, 'CH'), { code: 'attestation_unavailable' })
  })
})

t.test('new records are soon under a checkpoint', async (t) => {
  const folder = t.testdir()
  const { sallyport, key } = await opened(t, madeConfig(folder))
  await call(sallyport, key, CHECK, SWISS)
  const checkpoints = join(folder, 'state', 'checkpoints')
  const files = () => readdirSync(checkpoints).filter((name) => name.endsWith('.checkpoint'))
  const sizes = () => files().map((name) => readFileSync(join(checkpoints, name), 'utf8').split('\n')[1])
  await call(sallyport, key, CHECK, SWISS)
  while (!sizes().includes('2')) await delay(20)
  t.pass('and none was asked for')
})

t.test('a policy of the user decides, and one that cannot be meant is refused at start', async (t) => {
  const folder = t.testdir({
    'own.yaml': 'id: own\ngroups: []\nrules:\n  - { id: never, match: {}, action: block }\n',
    'bad.yaml': 'id: own\ngroups: []\nrules: []\n',
    'broken.yaml': 'id: [',
  })
  const own = { ...madeConfig(folder), provenance: { policy: join(folder, 'own.yaml') } }
  const { sallyport, key } = await opened(t, own)
  t.match((await call(sallyport, key, CHECK, check('8.1.0.1', 'US'))).json, { policy_action: 'block' })
  for (const name of ['bad.yaml', 'broken.yaml', 'absent.yaml']) {
    await t.rejects(open({ ...own, provenance: { policy: join(folder, name) } }), { code: 'invalid_policy' }, name)
  }
  await sallyport.close()
})

t.test('a key that others may read, or that is none, is refused', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'key.pem')
  const config = { ...madeConfig(folder), provenance: { signingKey: file } }
  await t.rejects(open(config), { code: 'invalid_config', message: /key\.pem does not exist/ })
  writeFileSync(file, pem(generateKeyPairSync('ed25519')), { mode: 0o600 })
  const othersMayRead = { code: 'invalid_config', message: /is readable by other users.*chmod 600/ }
  for (const mode of [0o644, 0o640, 0o604, 0o660]) {
    chmodSync(file, mode)
    await t.rejects(loadSigningKey({ source: file, make: false }), othersMayRead, mode.toString(8))
  }
  await t.rejects(open(config), othersMayRead)
  chmodSync(file, 0o600)
  const { sallyport, key } = await opened(t, config)
  t.equal((await call(sallyport, key, CHECK, SWISS)).status, 200)
  writeFileSync(join(folder, 'other.pem'), pem(generateKeyPairSync('x25519')), { mode: 0o600 })
  const tools = await openLedgerTools(config)
  t.teardown(tools.close)
  await t.rejects(tools.rotateKey({ nextKeyFile: join(folder, 'other.pem') }), { message: /not an Ed25519 key/ })
  process.env['TEST_SIGNING_KEY'] = readFileSync(file, 'utf8').replaceAll('\n', '\\n')
  t.teardown(() => delete process.env['TEST_SIGNING_KEY'])
  await sallyport.close()
  const other = await opened(t, { ...config, provenance: { signingKey: 'env:TEST_SIGNING_KEY' } })
  t.equal((await call(other.sallyport, other.key, CHECK, SWISS)).status, 200)
})

t.test('a service that runs follows a rotation to a made key or a given one, and survives a crash', async (t) => {
  const folder = t.testdir()
  const config = madeConfig(folder)
  const { sallyport, key } = await opened(t, config)
  await call(sallyport, key, CHECK, SWISS)
  const file = join(folder, 'state', 'signing-key.pem')
  const old = readFileSync(file)
  const given = join(folder, 'given.pem')
  writeFileSync(given, pem(generateKeyPairSync('ed25519')), { mode: 0o600 })
  for (const [options, id] of [
    [{}, 4],
    [{ nextKeyFile: given }, 6],
  ] as const) {
    const tools = await openLedgerTools(config)
    const { kid, placed } = await tools.rotateKey(options)
    await tools.close()
    t.ok(placed)
    await call(sallyport, key, CHECK, SWISS)
    const evidence = (await call(sallyport, key, `/v1/provenance/export?attestation_id=${id}`)).json
    t.equal(evidence.records[0].dsse.signatures[0].keyid, kid)
    t.match(verifyEvidence(evidence, (await call(sallyport, undefined, '/v1/provenance/keys')).json), { ok: true })
    t.notOk(existsSync(`${file}.next`))
  }
  t.same([readFileSync(file), statSync(file).mode & 0o777], [readFileSync(given), 0o600])
  await sallyport.close()
  // As if the process had died after the record and before the file was put in place.
  writeFileSync(`${file}.next`, readFileSync(file), { mode: 0o600 })
  writeFileSync(file, old, { mode: 0o600 })
  const again = await opened(t, config)
  t.equal((await call(again.sallyport, again.key, CHECK, SWISS)).status, 200)
  t.notOk(existsSync(`${file}.next`))
})

t.test('addresses are erased by age where the configuration says so, and by hand', async (t) => {
  const folder = t.testdir()
  const config = madeConfig(folder)
  const first = await opened(t, config)
  await call(first.sallyport, first.key, CHECK, SWISS)
  await call(first.sallyport, first.key, CHECK, check('8.1.0.1', 'CH'))
  const tools = await openLedgerTools(config)
  t.equal(await tools.erase('::ffff:8.3.0.1'), 1, 'in any way of writing it')
  await t.rejects(tools.erase('nobody'), { code: 'invalid_ip' })
  t.equal((await tools.verify()).fault, undefined)
  await tools.close()
  const disclosed = async ({ sallyport, key }: typeof first, id: number) =>
    (await call(sallyport, key, `/v1/provenance/export?attestation_id=${id}`)).json.records[0].disclosure.state
  t.same([await disclosed(first, 2), await disclosed(first, 3)], ['erased', 'disclosed'])
  await first.sallyport.close()
  const store = await openSqliteLedger(join(folder, 'state', 'ledger.db'))
  const DAY_MS = 86_400_000
  await append(store, [madeDraft('t/old', '192.0.2.1', Date.now() - 3 * DAY_MS)])
  t.equal((await store.subjects([3, 4])).size, 2)
  const second = await opened(t, { ...config, provenance: { retentionDays: 2 } })
  t.same([...(await store.subjects([3, 4])).keys()], [3], 'the older one is gone when the service is open')
  await second.sallyport.close()
  await store.close()
})
