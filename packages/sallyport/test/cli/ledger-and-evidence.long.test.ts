import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { open, readConfig } from '@sallyport/engine'
import t from 'tap'
import { piping, run, workspace } from './command.ts'
import { openWebhook } from './webhook.ts'

t.test('a ledger is verified, rotated and erased from, and its evidence is checked', async (t) => {
  const { command, config, folder } = workspace(t)
  const sallyport = await open(readConfig({ file: config }), { onNotice: () => {} })
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  const attest = (peer: string) => sallyport.provenance.attestDecision(sallyport.decide({ ...request, peer }), 'DE')
  for (const peer of ['192.0.2.1', '10.0.0.2', '10.0.0.2']) await attest(peer)
  const evidence = join(folder, 'evidence.json')
  const keys = join(folder, 'keys.json')
  writeFileSync(evidence, JSON.stringify(await sallyport.provenance.evidence('site', { attestationId: 3 })))
  writeFileSync(keys, JSON.stringify(await sallyport.provenance.keys()))
  await sallyport.close()

  t.match(await command('ledger', 'verify'), {
    code: 0,
    out: /^Good: 4 records in 2 logs, under \d+ checkpoints\.\ntime: not provided: No log has a timestamp\.\n$/,
  })
  t.match(JSON.parse((await command('ledger', 'verify', '--json')).out), { logs: 2, records: 4 })

  t.match(await run('evidence', 'verify', evidence), {
    code: 1,
    out: /authenticity +not provided.*No check failed, but the origin of the evidence is unproven\. Pass the keys of the service with --keys\.\nUnproven claims of the records:\n.* 10\.0\.0\.2 /s,
  })
  t.match(await run('evidence', 'verify', evidence, '--json'), { code: 1, out: /"ok": true/ })
  t.match(await run('evidence', 'verify', evidence, '--allow-unauthenticated'), {
    code: 0,
    out: /format +pass +1 record in the form.*authenticity +not provided.*No check failed\.\n/s,
  })
  const trusted = await run('evidence', 'verify', evidence, '--keys', keys, '--json')
  const said = { attestationId: 3, time: /^20.*Z$/, address: '10.0.0.2', claim: 'DE', action: 'flag', reason: String }
  const proven = { ok: true, isProven: true, axes: { authenticity: { outcome: 'pass' } }, records: [said] }
  t.match([trusted.code, JSON.parse(trusted.out)], [0, proven])
  t.match(
    (await run('evidence', 'verify', evidence, '--keys', keys)).out,
    /^Proven: .*\nattestation +time +address +claim +place .*\n3 +20\S+Z +10\.0\.0\.2 +DE +unknown +unknown +flag/m,
  )

  const marked = [evidence, keys].map((file) => {
    writeFileSync(`${file}.bom`, `\ufeff${readFileSync(file, 'utf8')}`)
    return `${file}.bom`
  })
  t.match(await run('evidence', 'verify', marked[0] ?? '', '--keys', marked[1] ?? ''), { code: 0 })
  t.match(piping(readFileSync(evidence), 'evidence', 'verify', '-', '--keys', keys), { status: 0 })
  writeFileSync(join(folder, 'wide.json'), readFileSync(evidence, 'utf8').replace(/^/, '\ufeff'), 'utf16le')
  t.match(await run('evidence', 'verify', join(folder, 'wide.json')), {
    code: 1,
    err: /wide\.json is encoded in UTF-16. Save it as UTF-8/,
  })

  const tampered = join(folder, 'tampered.json')
  writeFileSync(tampered, readFileSync(evidence, 'utf8').replace('"ip":"10.0.0.2"', '"ip":"10.0.0.3"'))
  t.match(await run('evidence', 'verify', tampered, '--allow-unauthenticated'), {
    code: 1,
    out: /disclosure +fail.*is not valid\.\n$/s,
  })
  t.match(await run('evidence', 'verify', join(folder, 'none.json')), {
    code: 1,
    err: /^sallyport: \S+none\.json does not exist$/m,
  })
  t.match(await run('evidence', 'verify', config), { code: 1, err: /is not JSON/ })
  writeFileSync(join(folder, 'odd.json'), '[]')
  t.match(await run('evidence', 'verify', evidence, '--keys', join(folder, 'odd.json')), {
    code: 1,
    err: /is not a JWKS/,
  })
  t.match(await run('evidence', 'verify', join(folder, 'odd.json')), { code: 1, out: /format +fail/ })

  for (const asked of [
    ['privacy', 'erase', '10.0.0.2'],
    ['keys', 'rotate-signing', '--compromised'],
  ]) {
    t.match(await command(...asked), { code: 1, out: '', err: /Confirm with --yes\.\n$/ }, 'nobody can be asked')
  }
  for (const erased of [2, 0]) {
    const { out } = await command('privacy', 'erase', '10.0.0.2', '--yes', '--json')
    const places = JSON.parse(out).places as readonly { readonly place: string; readonly erased: number }[]
    t.equal(places.find(({ place }) => place === 'ledger')?.erased, erased)
  }

  const { kid } = JSON.parse((await command('keys', 'rotate-signing', '--json')).out)
  t.match(await command('keys', 'rotate-signing', '--compromised', '--yes'), {
    code: 0,
    out: /^The key \S{43} signs the ledger from/,
  })
  t.match(await command('ledger', 'verify'), { code: 0, out: /^Good: 6 records/ })
  t.notMatch(readFileSync(keys, 'utf8'), kid)

  const database = new DatabaseSync(join(folder, 'data', 'ledger.db'))
  database.exec(`UPDATE subject SET address = '192.0.2.9' WHERE attestation_id = 2`)
  t.match(await command('ledger', 'verify'), { code: 1, out: /record 0 \(attestation 2\): The address beside/ })
  t.match(await command('ledger', 'verify', '--no-addresses'), { code: 0, out: /^Good/ })
  database.exec('DELETE FROM subject')
  database.exec(
    `UPDATE record SET bytes = CAST(replace(CAST(bytes AS TEXT), '"DE"', '"FR"') AS BLOB) WHERE attestation_id = 3`,
  )
  database.close()
  const found = await command('ledger', 'verify')
  t.match(found, { code: 1, out: /^Bad: log t\/site, record 1 \(attestation 3\): .*it was changed/ })
  t.match(await command('ledger', 'verify', '--json'), { code: 1, out: /"fault"/ })

  // A timer that verifies at night has no reader.
  const hook = await openWebhook(t)
  appendFileSync(config, `net: { allowPrivate: [127.0.0.0/8] }\nnotify: [{ url: "${hook.url}" }]\n`)
  t.match(await command('ledger', 'verify'), { code: 1 })
  t.match(hook.of('ledger'), [{ text: /^The ledger does not verify: log t\/site, record 1: .*it was changed/ }])
})
