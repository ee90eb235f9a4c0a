import t from 'tap'
import { auditLedger } from '../src/audit.ts'
import { MADE_ATTESTATION } from '../src/testing/index.ts'
import { verifyCrawls, verifyEvidence } from '../src/verify/index.ts'
import { MINUTE, madeMinute, makeDocument, ROBOTS, recorded } from './made-crawls.ts'
import { AT } from './made-ports.ts'

t.test('what an operator read is summed up and proven, with the preference of the site', async (t) => {
  const { build, keys } = await recorded(30)
  const report = verifyCrawls(JSON.stringify(await build(5, 15)), keys)
  t.match(report, { ok: true, isProven: true, operator: 'OpenAI', leftOut: 0, addresses: [] })
  const said = { crawler: 'GPTBot', purpose: 'training', proof: 'published range' }
  const licence = 'https://shop.example/licence.xml'
  const preference = { host: 'shop.example', contentUsage: 'train-ai=n', licence, robotsSha256: ROBOTS.sha256 }
  const read = { path: '/articles/*', robots: 'allowed', action: 'allow', requests: 30, pages: 30, bytes: 9_000 }
  const refused = { path: '/private/*', robots: 'disallowed', action: 'block', requests: 10, pages: 0 }
  // A record is of the minute in which its last request was.
  const each = { ...said, preference }
  t.match(report.paths, [
    { ...each, ...read },
    { ...each, ...refused },
  ])
  const outcomes = Object.values(report.axes).map(({ outcome }) => outcome)
  t.same(outcomes, [...Array(5).fill('pass'), 'not_provided', 'not_provided'])
  const without = verifyCrawls(await build(5, 15))
  t.match(without, { ok: true, isProven: false, axes: { authenticity: { outcome: 'not_provided' } } })
})

t.test('addresses are in the file only if they are asked for, and until they are erased', async (t) => {
  const { build, keys, ports } = await recorded(4)
  t.same((await build(0, 9)).addresses, [])
  const disclosed = await build(0, 9, true)
  const both = ['192.0.2.1', '192.0.2.7']
  t.match(verifyCrawls(disclosed, keys), { ok: true, addresses: both, axes: { disclosure: { outcome: 'pass' } } })
  const [first, ...rest] = disclosed.addresses
  const changed = { ...disclosed, addresses: [{ ...first, addresses: '192.0.2.9' }, ...rest] }
  const disclosure = { outcome: 'fail', detail: /Record 0: the addresses/ }
  t.match(verifyCrawls(changed, keys), { ok: false, axes: { disclosure } })
  await ports.store.eraseBefore(AT + 100 * MINUTE)
  const erased = verifyCrawls(await build(0, 9, true), keys)
  t.match(erased, { ok: true, addresses: [], axes: { disclosure: { outcome: 'not_provided' } } })
})

t.test('every span of every log is under its checkpoint, and one minute left out or changed is seen', async (t) => {
  for (const minutes of [1, 2, 3, 7, 8, 13]) {
    const { build, keys, ledger } = await recorded(minutes)
    // The log goes on behind the checkpoint of an earlier span.
    for (let from = 0; from < minutes; from++) {
      for (let to = from + 1; to <= minutes; to++) {
        const { ok, axes } = verifyCrawls(await build(from, to), keys)
        if (!ok) t.fail(`${minutes}: ${from} to ${to}: ${JSON.stringify(axes)}`)
      }
    }
    await ledger.crawl(madeMinute(AT + minutes * MINUTE), [])
  }
  const { build, keys } = await recorded(13)
  const good = await build(3, 9)
  const failing = (changed: object) =>
    Object.entries(verifyCrawls({ ...good, ...changed }, keys).axes).flatMap(([axis, { outcome }]) =>
      outcome === 'fail' ? [axis] : [],
    )
  const { records, tree } = good
  const less = (at: number) => records.filter((_, index) => index !== at)
  const edited = records.map((text) => text.replace('"requests":3', '"requests":4'))
  for (const [changed, ...axes] of [
    [{}],
    [{ records: less(3) }, 'integrity', 'inclusion'],
    [{ records: less(records.length - 1) }, 'inclusion', 'completeness'],
    [{ records: less(0) }, 'inclusion', 'completeness'],
    [{ records: edited }, 'integrity', 'inclusion'],
    [{ records: [...records.slice(0, -1), edited.at(-1)] }, 'inclusion'],
    [{ tree: { ...tree, before: [] } }, 'inclusion'],
    [{ tree: { ...tree, after: [] } }, 'inclusion'],
    [{ documents: [] }, 'integrity'],
    [{ documents: [{ ...good.documents[0], text: 'User-agent: *\nAllow: /\n' }] }, 'integrity'],
    [{ query: { ...good.query, to: '2027-01-01T00:00:00.000Z' } }, 'completeness'],
    [{ log: good.log.replace('openai', 'google') }, 'integrity', 'inclusion'],
    [{ more: 1 }, 'format'],
    [{ statements: {} }, 'format'],
  ] as const)
    t.same(failing(changed), axes)
})

t.test('a month of minutes is one file', async (t) => {
  const minutes = 31 * 1_440
  const { build, keys } = await recorded(minutes)
  const evidence = await build(0, minutes)
  t.equal(evidence.records.length, minutes)
  const report = verifyCrawls(JSON.stringify(evidence), keys)
  t.match(report, { ok: true, isProven: true, paths: [{ requests: 3 * minutes }, { requests: minutes }] })
  for (const count of [0, 200_001]) {
    const refused = verifyCrawls({ ...evidence, records: Array(count).fill(evidence.records[0]) }, keys)
    t.match(refused, { ok: false, axes: { format: { outcome: 'fail', detail: 'records: none, or too many' } } })
  }
})

t.test('records of processes that overlap add up, with their receipts', async (t) => {
  const { build, keys, ledger } = await recorded(1)
  const [row] = madeMinute(AT).rows
  const rows = row === undefined ? [] : [{ ...row, receipts: 'pay_1 pay_2' }]
  await ledger.crawl(madeMinute(AT - MINUTE, { to: AT + 59_500, rows }), [])
  await ledger.crawl(madeMinute(AT + 1_000, { to: AT + 59_500, rows }), [])
  const { ok, paths } = verifyCrawls(await build(0, 9), keys)
  t.match([ok, paths.length], [true, 2])
  const [first, last] = [AT - MINUTE, AT + 59_500].map((at) => new Date(at).toISOString())
  t.match(paths[0], { requests: 9, receipts: ['pay_1', 'pay_2', 'pay_1', 'pay_2'], first, last })
})

t.test('a verifier of before says that it does not know the version, and attestations stay as they are', async (t) => {
  const { ledger, ports, build, keys } = await recorded(2)
  const format = { outcome: 'fail', detail: 'media_type: not a version that is known' }
  t.match(verifyEvidence(await build(0, 2), keys).axes, { format })
  const [record] = await ports.store.records('c/openai', 0, 1)
  t.match(Buffer.from(record?.bytes ?? []).toString(), /"type":"crawl","v":3\}$/)
  await ledger.attest('t/a', MADE_ATTESTATION, { address: '192.0.2.1' })
  const [{ attestationId } = { attestationId: 0 }] = await ports.store.records('t/a', 0, 1)
  t.match(verifyEvidence(await ledger.evidence('t/a', { attestationId }), keys), { ok: true, isProven: true })
  await ledger.checkpoint()
  t.notOk((await auditLedger(ports.store, { archive: ports.archive, subjects: true })).fault)
  const span = { from: '2020-01-01T00:00:00.000Z', to: '2030-01-01T00:00:00.000Z' }
  t.equal(await ledger.crawls('Nobody', { ...span, withAddresses: false }), undefined)
})

t.test('an audit misses a robots.txt that records name', async (t) => {
  const other = makeDocument('other')
  const { ledger, ports } = await recorded(1, { preferences: [{ host: 'a', robotsSha256: other.sha256 }] })
  await ledger.checkpoint()
  t.match((await auditLedger(ports.store)).fault, { reason: /document/i })
})
