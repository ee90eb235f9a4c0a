import type { Sallyport } from '@sallyport/engine'
import t from 'tap'
import { attest, awaitEvidence, openWithFile, runCommand } from './commands.ts'
import { type Manner, makeAuthority, NO_OPENSSL, serveAuthority } from './time-authority.ts'

const ENOUGH = { skip: NO_OPENSSL, timeout: 120_000 }

const NET = { allowPrivate: ['127.0.0.0/8'] }

async function readMetrics(sallyport: Sallyport): Promise<readonly string[]> {
  const lines = (await sallyport.metrics().metrics()).split('\n')
  return lines.filter((line) => line.startsWith('sallyport_ledger_timestamps'))
}

t.test('a service has its records stamped, and the file proves their time offline', ENOUGH, async (t) => {
  const authority = await makeAuthority(t)
  const served = await serveAuthority(t, authority)
  const root = authority.file('root.pem')
  const ledger = { timestamps: [served.url], timestampCa: root }
  const { sallyport, file, write, findings } = await openWithFile(t, { ledger, net: NET })
  const evidence = await awaitEvidence(sallyport, await attest(sallyport), ({ anchors }) => anchors?.length === 1)
  t.ok(served.asked.every((type) => type === 'application/timestamp-query'))
  t.match(await readMetrics(sallyport), [/outcome="stamped"\} [1-9]/])
  t.match(await findings(), [{ state: 'ok', found: /^http:\/\/127\.0\.0\.1:\d+\/tsr issues timestamps as tsa\.$/ }])
  const saved = write('evidence.json', JSON.stringify(evidence))
  const keys = write('keys.json', JSON.stringify(await sallyport.provenance.keys()))
  const other = (await makeAuthority(t, 'Other Root')).file('root.pem')
  const verify = (...more: readonly string[]) => runCommand('evidence', 'verify', saved, '--keys', keys, ...more)
  for (const [ca, status, out] of [
    [root, 0, /^time +pass +tsa stamped the checkpoint at 20\S+Z\.$/m],
    [undefined, 0, /^time +not provided +tsa says 20/m],
    [other, 1, /^time +fail +No timestamp is signed by an authority that you trust/m],
  ] as const) {
    t.match(verify(...(ca === undefined ? [] : ['--timestamp-ca', ca])), { status, out })
  }
  t.match(verify('--timestamp-ca', keys), { status: 1, err: /keys\.json contains no certificate in PEM/ })
  const { provedBefore, records } = JSON.parse(verify('--timestamp-ca', root, '--json').out)
  const after = Date.parse(provedBefore) - Date.parse(records[0].time)
  t.ok(after > -2_000 && after < 60_000, provedBefore)

  // OpenSSL alone, as the documentation says.
  const [anchor] = evidence.anchors ?? []
  const [timestamp] = anchor?.timestamps ?? []
  t.equal(timestamp?.authority, served.url.replace(/\?.*/, ''), 'a query may hold a key, and is left out')
  const note = write('note', anchor?.checkpoint ?? '')
  const response = write('a.tsr', Buffer.from(timestamp?.response ?? '', 'base64'))
  t.match(await authority.openssl('ts', '-verify', '-data', note, '-in', response, '-CAfile', root), /OK/)

  await sallyport.close()
  for (const [more, status, out] of [
    [['--timestamp-ca', root], 0, /^time: pass: [\s\S]+^ {2}t\/site: 1 record proved before 20\S+Z$/m],
    [[], 0, /^time: not provided: Nothing proves who stamped/m],
    [['--timestamp-ca', other], 1, /^time: fail: /m],
  ] as const) {
    t.match(runCommand('ledger', 'verify', '--config', file, ...more), { status, out })
  }
})

t.test('an authority that is away, slow or lies delays nothing, and is said', ENOUGH, async (t) => {
  const authority = await makeAuthority(t)
  const other = await makeAuthority(t, 'Other Root')
  const manners: readonly (readonly [name: string, said: RegExp, answer: Manner])[] = [
    ['garbage', /cannot be read/, (_, response) => void response.end('<html>')],
    [
      'untrusted',
      /tsa is not certified by ledger\.timestampCa/,
      async (query, response) => void response.end(await other.reply(query)),
    ],
    ['status', /responded with status 500/, (_, response) => void response.writeHead(500).end()],
    ['hang', /no result within 10000 ms/, () => {}],
  ]
  for (const [name, said, answer] of manners) {
    const served = await serveAuthority(t, authority)
    served.answer = answer
    const ledger = { timestamps: [served.url], timestampCa: authority.file('root.pem') }
    const { sallyport, findings } = await openWithFile(t, { ledger, net: NET })
    t.match(await findings(), [{ state: 'fail', found: said, passing: true }], name)
    const id = await attest(sallyport)
    if (name === 'garbage') {
      const evidence = await awaitEvidence(sallyport, id, ({ unanchored = '' }) => /cannot be read/.test(unanchored))
      t.match(evidence, { anchors: [], unanchored: /^http:\/\/127\.0\.0\.1:\d+\/tsr: it cannot be read$/ })
      t.match(await readMetrics(sallyport), [/outcome="refused"\} 1$/], 'it is asked again only after a minute')
    }
    await sallyport.close()
  }
})

t.test('a service that may not ask says so, and one that hangs ends at once', ENOUGH, async (t) => {
  const authority = await makeAuthority(t)
  const served = await serveAuthority(t, authority)
  const asked = new Promise<void>((resolve) => {
    served.answer = () => resolve()
  })
  const ledger = { timestamps: [served.url] }
  const hanging = await openWithFile(t, { ledger, net: NET })
  await attest(hanging.sallyport)
  await asked
  await hanging.sallyport.close()
  t.pass('closed while the authority has not answered')
  const { sallyport } = await openWithFile(t, { ledger, net: { outbound: false } })
  const id = await attest(sallyport)
  const evidence = await awaitEvidence(sallyport, id, ({ unanchored = '' }) => /outbound/.test(unanchored))
  t.match(evidence, { unanchored: /: net\.outbound is false$/ })
  t.equal(served.asked.length, 1)
})
