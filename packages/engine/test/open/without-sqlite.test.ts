import { fork } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ConfigInput } from '#config'
import { nextMessage } from '../stores/processes.ts'
import { WITHOUT_SQLITE } from '../stores/without-package.ts'

/* On Node 20 without the package: an application without `store` works, and what must be kept says what to install. */

const COMMAND = /Node \S+ has no SQLite of version 3\.51\.3 or newer: npm install @photostructure\/sqlite$/

interface Outcome {
  readonly refused?: string | undefined
  readonly notices: readonly string[]
  readonly faults: readonly string[]
}

function openIn(t: Test, dataDir: string, options: ConfigInput = {}): Promise<Outcome> {
  const config = { dataDir, data: { refresh: false, city: false }, net: { outbound: false }, ...options }
  const child = fork(join(import.meta.dirname, 'without-sqlite-child.js'), [JSON.stringify(config)], {
    execArgv: [...WITHOUT_SQLITE],
  })
  t.teardown(() => child.kill('SIGKILL'))
  return nextMessage(child) as Promise<Outcome>
}

t.test('without a store a service decides and counts in memory, and writes no database', async (t) => {
  const dataDir = t.testdir()
  const outcome = await openIn(t, dataDir)
  t.match(outcome, {
    refused: undefined,
    network: 'tor',
    accounts: [],
    key: /^package_missing: Node/,
    override: /^package_missing: Node/,
    attested: /^attestation_unavailable/,
  })
  const { remaining = [] } = outcome as { readonly remaining?: readonly number[] }
  t.equal((remaining[0] ?? 0) - (remaining[1] ?? 0), 1, 'calls of /v1 are counted')
  const told = outcome.notices.filter((notice) => notice.startsWith('SALLYPORT_SQLITE'))
  t.match(told, [/^SALLYPORT_SQLITE Bans and counts are lost when this process ends, and reports have no data\. Node/])
  t.match(told[0], COMMAND)
  t.equal(outcome.faults.length, 1, 'the attestation alone fails')
  t.match(outcome.faults[0], COMMAND)
  const files = readdirSync(dataDir).join()
  t.notMatch(files, /\.db\b|\.held\b/)
  t.match(files, /\btables-/)
})

t.test('a setting that needs SQLite, and databases of an earlier start, end the start with the command', async (t) => {
  const rows: readonly (readonly [ConfigInput, RegExp])[] = [
    [{ store: `sqlite:${join(t.testdir(), 'state.db')}` }, /: store is a SQLite file\. Node/],
    [{ counting: { place: 'dataDir' } }, /: counting\.place: dataDir counts in a SQLite file\. Node/],
    [{ provenance: { signingKey: 'env:NONE' } }, /: provenance\.signingKey needs a ledger in a SQLite file\. Node/],
  ]
  for (const [options, reason] of rows) {
    const { refused } = await openIn(t, t.testdir(), options)
    t.match(refused, reason)
    t.match(refused, COMMAND)
  }
  const dataDir = t.testdir()
  writeFileSync(join(dataDir, 'state.db'), '')
  const { refused } = await openIn(t, dataDir)
  t.match(refused, / contains state\.db from an earlier start\. Node/)
  t.match(refused, COMMAND)
})
