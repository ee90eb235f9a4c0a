import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { open, readConfig } from '@sallyport/engine'
import t from 'tap'
import { piping, run, workspace } from './command.ts'
import { openWebhook } from './webhook.ts'

t.test('a ledger is verified, rotated and erased from, and its evidence is checked', async (t) => {
  const { command, object, config, folder, write } = workspace(t)
  const verify = (...argv: readonly string[]) => run('evidence', 'verify', ...argv)
  const sallyport = await open(readConfig({ file: config }), { onNotice: () => {} })
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  const attest = (peer: string) => sallyport.provenance.attestDecision(sallyport.decide({ ...request, peer }), 'DE')
  for (const peer of ['192.0.2.1', '10.0.0.2', '10.0.0.2']) await attest(peer)
  const text = JSON.stringify(await sallyport.provenance.evidence('site', { attestationId: 3 }))
  const evidence = write('evidence.json', text)
  const published = JSON.stringify(await sallyport.provenance.keys())
  const keys = write('keys.json', published)
  await sallyport.close()

  t.match(await command('ledger', 'verify'), {
    code: 0,
    out: /^Good: 4 records in 2 logs, under \d+ checkpoints\.\ntime: not provided: No log has a timestamp\.\n$/,
  })
  t.match(await object('ledger', 'verify'), { logs: 2, records: 4 })

  t.match(await verify(evidence), {
    code: 1,
    out: /authenticity +not provided.*No check failed, but the origin of the evidence is unproven\. Pass the keys of the service with --keys\.\nUnproven claims of the records:\n.* 10\.0\.0\.2 /s,
  })
  t.match(await verify(evidence, '--allow-unauthenticated'), {
    code: 0,
    out: /format +pass +1 record in the form.*authenticity +not provided.*No check failed\.\n/s,
  })
  const trusted = await verify(evidence, '--keys', keys, '--json')
  const said = { attestationId: 3, time: /^20.*Z$/, address: '10.0.0.2', claim: 'DE', action: 'flag', reason: String }
  const proven = { ok: true, isProven: true, axes: { authenticity: { outcome: 'pass' } }, records: [said] }
  t.match([trusted.code, JSON.parse(trusted.out)], [0, proven])
  const table =
    /^Proven: .*\nattestation +time +address +claim +place .*\n3 +20\S+Z +10\.0\.0\.2 +DE +unknown +unknown +flag/m
  t.match((await verify(evidence, '--keys', keys)).out, table)

  const marked = [write('evidence.bom', `\ufeff${text}`), write('keys.bom', `\ufeff${published}`)] as const
  t.match(await verify(marked[0], '--keys', marked[1]), { code: 0 })
  t.match(piping(text, 'evidence', 'verify', '-', '--keys', keys), { status: 0 })
  const odd = write('odd.json', '[]')
  for (const [argv, says] of [
    [[write('wide.json', Buffer.from(`\ufeff${text}`, 'utf16le'))], { err: /wide\.json is encoded in UTF-16. Save/ }],
    [
      [write('tampered.json', text.replace('"ip":"10.0.0.2"', '"ip":"10.0.0.3"')), '--allow-unauthenticated'],
      { out: /disclosure +fail.*is not valid\.\n$/s },
    ],
    [[join(folder, 'none.json')], { err: /^sallyport: \S+none\.json does not exist$/m }],
    [[config], { err: /is not JSON/ }],
    [[evidence, '--keys', odd], { err: /is not a JWKS/ }],
    [[odd], { out: /format +fail/ }],
  ] as const)
    t.match(await verify(...argv), { code: 1, ...says }, argv.join(' '))

  for (const asked of ['privacy erase 10.0.0.2', 'keys rotate-signing --compromised'])
    t.match(await command(...asked.split(' ')), { code: 1, out: /^$/, err: /Confirm with --yes\.\n$/ }, asked)
  for (const erased of [2, 0]) {
    const { places } = await object('privacy', 'erase', '10.0.0.2', '--yes')
    t.match(
      places.find(({ place }: { place: string }) => place === 'ledger'),
      { erased },
    )
  }

  const { kid } = await object('keys', 'rotate-signing')
  const rotated = await command('keys', 'rotate-signing', '--compromised', '--yes')
  t.match(rotated, { code: 0, out: /^The key \S{43} signs the ledger from/ })
  t.match(await command('ledger', 'verify'), { code: 0, out: /^Good: 6 records/ })
  t.notMatch(published, kid)

  const database = new DatabaseSync(join(folder, 'data', 'ledger.db'))
  database.exec(`UPDATE subject SET address = '192.0.2.9' WHERE attestation_id = 2`)
  t.match(await command('ledger', 'verify'), { code: 1, out: /record 0 \(attestation 2\): The address beside/ })
  t.match(await command('ledger', 'verify', '--no-addresses'), { code: 0, out: /^Good/ })
  database.exec('DELETE FROM subject')
  const bytes = `CAST(replace(CAST(bytes AS TEXT), '"DE"', '"FR"') AS BLOB)`
  database.exec(`UPDATE record SET bytes = ${bytes} WHERE attestation_id = 3`)
  database.close()
  const found = /^Bad: log t\/site, record 1 \(attestation 3\): .*it was changed/
  t.match(await command('ledger', 'verify'), { code: 1, out: found })
  t.match(await command('ledger', 'verify', '--json'), { code: 1, out: /"fault"/ })

  // A timer that verifies at night has no reader.
  const hook = await openWebhook(t)
  appendFileSync(config, `net: { allowPrivate: [127.0.0.0/8] }\nnotify: [{ url: "${hook.url}" }]\n`)
  t.match(await command('ledger', 'verify'), { code: 1 })
  t.match(hook.of('ledger'), [{ text: /^The ledger does not verify: log t\/site, record 1: .*it was changed/ }])
})
