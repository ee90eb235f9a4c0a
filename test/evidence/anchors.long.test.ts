import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { doctor, open } from '@sallyport/engine'
import type { EvidenceJson } from '@sallyport/ledger'
import t, { type Test } from 'tap'
import { NO_DATA } from '../no-data.ts'
import { ROOT } from '../workspaces.ts'
import { makeAuthority, NO_OPENSSL, serveAuthority } from './time-authority.ts'

const BIN = join(ROOT, 'packages/sallyport/bin/sallyport.mjs')
const ENOUGH = { skip: NO_OPENSSL, timeout: 120_000 }

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8' })
  return { status, out: stdout, err: stderr }
}

async function started(
  t: Test,
  timestamps: readonly string[],
  ca: string | undefined,
  net: object = { allowPrivate: ['127.0.0.0/8'] },
) {
  const dataDir = t.testdir()
  const ledger = { timestamps: [...timestamps], ...(ca === undefined ? {} : { timestampCa: ca }) }
  const config = { dataDir, data: { refresh: false, sources: NO_DATA }, ledger, net }
  const file = join(dataDir, 'sallyport.yaml')
  writeFileSync(file, JSON.stringify(config))
  const faults: string[] = []
  const sallyport = await open(config, { onNotice: () => {}, onFault: (error) => faults.push(String(error)) })
  t.teardown(() => sallyport.close())
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  return {
    sallyport,
    config,
    file,
    dataDir,
    faults,
    attest: async () => {
      const { attestation } = await sallyport.provenance.attestDecision(
        sallyport.decide({ ...request, peer: '192.0.2.1' }),
        'DE',
      )
      return attestation?.id ?? 0
    },
    metrics: async () =>
      (await sallyport.metrics().metrics())
        .split('\n')
        .filter((line) => line.startsWith('sallyport_ledger_timestamps')),
  }
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

t.test('a service has its records stamped, and the file proves their time offline', ENOUGH, async (t) => {
  const authority = await makeAuthority(t)
  const served = await serveAuthority(t, authority)
  const { sallyport, attest, dataDir, file, metrics, config } = await started(
    t,
    [served.url],
    authority.file('root.pem'),
  )
  const id = await attest()
  const evidence = await until<EvidenceJson>(async () => {
    const made = await sallyport.provenance.evidence('site', { attestationId: id })
    return made?.anchors?.length === 1 ? made : undefined
  })
  t.ok(served.asked.every((type) => type === 'application/timestamp-query'))
  t.match(await metrics(), [/outcome="stamped"\} [1-9]/])
  t.match(
    (await doctor(config)).filter(({ check }) => check === 'anchors'),
    [{ state: 'ok', found: /^http:\/\/127\.0\.0\.1:\d+\/tsr issues timestamps as tsa\.$/ }],
  )
  const write = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(dataDir, name), content)
    return join(dataDir, name)
  }
  const [saved, keys] = [
    write('evidence.json', JSON.stringify(evidence)),
    write('keys.json', JSON.stringify(await sallyport.provenance.keys())),
  ]
  const root = authority.file('root.pem')
  t.match(run('evidence', 'verify', saved, '--keys', keys, '--timestamp-ca', root), {
    status: 0,
    out: /^time +pass +tsa stamped the checkpoint at 20\S+Z\.$/m,
  })
  const report = JSON.parse(run('evidence', 'verify', saved, '--keys', keys, '--timestamp-ca', root, '--json').out)
  const recorded = Date.parse(report.records[0].time)
  t.ok(
    Date.parse(report.provedBefore) > recorded - 2_000 && Date.parse(report.provedBefore) < recorded + 60_000,
    report.provedBefore,
  )
  t.match(run('evidence', 'verify', saved, '--keys', keys), { status: 0, out: /^time +not provided +tsa says 20/m })
  const other = await makeAuthority(t, 'Other Root')
  t.match(run('evidence', 'verify', saved, '--keys', keys, '--timestamp-ca', other.file('root.pem')), {
    status: 1,
    out: /^time +fail +No timestamp is signed by an authority that you trust/m,
  })
  t.match(run('evidence', 'verify', saved, '--timestamp-ca', keys), {
    status: 1,
    err: /keys\.json contains no certificate in PEM/,
  })

  // OpenSSL alone, as the documentation says.
  const [anchor] = evidence.anchors ?? []
  const [timestamp] = anchor?.timestamps ?? []
  t.equal(timestamp?.authority, served.url.replace(/\?.*/, ''), 'a query may hold a key, and is left out')
  const [note, response] = [
    write('note', anchor?.checkpoint ?? ''),
    write('a.tsr', Buffer.from(timestamp?.response ?? '', 'base64')),
  ]
  t.match(await authority.openssl('ts', '-verify', '-data', note, '-in', response, '-CAfile', root), /OK/)

  await sallyport.close()
  t.match(run('ledger', 'verify', '--config', file, '--timestamp-ca', root), {
    status: 0,
    out: /^time: pass: [\s\S]+^ {2}t\/site: 1 record proved before 20\S+Z$/m,
  })
  t.match(run('ledger', 'verify', '--config', file), {
    status: 0,
    out: /^time: not provided: Nothing proves who stamped/m,
  })
  t.match(run('ledger', 'verify', '--config', file, '--timestamp-ca', other.file('root.pem')), {
    status: 1,
    out: /^time: fail: /m,
  })
})

t.test('an authority that is away, slow or lies delays nothing, and is said', ENOUGH, async (t) => {
  const authority = await makeAuthority(t)
  const other = await makeAuthority(t, 'Other Root')
  const garbage = Buffer.alloc(200_000, 'x')
  const manners = {
    imprint: /other bytes than this checkpoint/,
    nonce: /does not repeat the nonce/,
    rejected: /refused with status 2/,
    garbage: /cannot be read/,
    huge: /larger than 65536|65536/,
    untrusted: /tsa is not certified by ledger\.timestampCa/,
    status: /responded with status 500/,
    hang: /no result within 10000 ms/,
  } as const
  const serveAs = async (manner: keyof typeof manners) => {
    const served = await serveAuthority(t, authority)
    served.answer = async (query, response) => {
      if (manner === 'hang') return
      if (manner === 'garbage') response.end('<html>')
      else if (manner === 'huge') response.end(garbage)
      else if (manner === 'status') response.writeHead(500).end()
      else if (manner === 'rejected') response.end(await authority.reply(query, { digests: 'other' }))
      else if (manner === 'untrusted') response.end(await other.reply(query))
      else
        response.end(
          await authority.reply(
            await authority.query(Buffer.from(manner === 'imprint' ? 'other' : 'sallyport doctor\n')),
          ),
        )
    }
    return served.url
  }
  for (const [manner, said] of Object.entries(manners)) {
    const url = await serveAs(manner as keyof typeof manners)
    const { sallyport, attest, metrics, config } = await started(t, [url], authority.file('root.pem'))
    const findings = (await doctor(config)).filter(({ check }) => check === 'anchors')
    t.match(findings, [{ state: 'fail', found: said, passing: true }], manner)
    const id = await attest()
    if (manner === 'garbage') {
      const evidence = await until(async () => {
        const made = await sallyport.provenance.evidence('site', { attestationId: id })
        return /cannot be read/.test(made?.unanchored ?? '') ? made : undefined
      })
      t.match(evidence, { anchors: [], unanchored: /^http:\/\/127\.0\.0\.1:\d+\/tsr: it cannot be read$/ })
      t.match(await metrics(), [/outcome="refused"\} 1$/], 'it is asked again only after a minute')
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
  const hanging = await started(t, [served.url], undefined)
  await hanging.attest()
  await asked
  await hanging.sallyport.close()
  t.pass('closed while the authority has not answered')
  const closed = await started(t, [served.url], undefined, { outbound: false })
  const id = await closed.attest()
  const evidence = await until(async () => {
    const made = await closed.sallyport.provenance.evidence('site', { attestationId: id })
    return /outbound/.test(made?.unanchored ?? '') ? made : undefined
  })
  t.match(evidence, { unanchored: /: net\.outbound is false$/ })
  t.equal(served.asked.length, 1)
})
