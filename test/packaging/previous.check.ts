import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeFolder } from '../started.ts'
import { ROOT } from '../workspaces.ts'
import { run, whyUnreachable } from './npm.ts'
import { openProgram } from './programs.ts'

/* One `dataDir` goes from release 0.2.0 to this version, back as upgrading.md says, and forward again. */
t.setTimeout(900_000)
const RELEASE = '682634fd0036588712b57d568bc057f3fb70b2c0'
const folder = makeFolder()
const before = join(folder, 'release')

/** Builds the release from the history; resolves with why it cannot be built here, or false. */
async function build(): Promise<string | false> {
  mkdirSync(before)
  const { code } = await run('sh', ['-c', `git archive ${RELEASE} | tar -x -C ${before}`], ROOT)
  if (code !== 0 || !existsSync(join(before, 'package.json'))) return 'the history has no release 0.2.0'
  for (const [command, ...args] of [
    ['npm', 'ci', '--prefer-offline', '--ignore-scripts', '--loglevel', 'error'],
    ['npx', '--no-install', 'tsc', '-b', 'packages/sallyport'],
  ] as const) {
    const ran = await run(command, args, before)
    if (whyUnreachable(ran)) return whyUnreachable(ran)
    if (ran.code !== 0) throw new Error(ran.output)
  }
  return false
}

const config = join(folder, 'sallyport.yaml')
const dataDir = join(folder, 'data')
const strikes = { key: 'client', count: 6, window: '10m', on: ['blocked'], for: '1h' }
const settings = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', dataDir, data: { refresh: false, city: false } }
writeFileSync(config, JSON.stringify({ ...settings, policy: { strikes } }))
const commandIn = (root: string) => join(root, 'packages/sallyport/bin/sallyport.mjs')
const PREVIOUS = commandIn(before)
const THIS = commandIn(ROOT)

async function say(command: string, ...args: readonly string[]): Promise<string> {
  const { code, output } = await run(process.execPath, [command, ...args], folder)
  if (code !== 0) throw new Error(output)
  return output
}

/** Serves `/v1` by a version, checks that it knows what was set, and leaves an attestation with its evidence. */
async function serve(t: Test, command: string, key: string): Promise<string> {
  const running = await openProgram(process.execPath, [command, 'proxy', '--config', config], folder)
  try {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const ask = async (path: string, body?: object) => {
      const sent = body && { method: 'POST', body: JSON.stringify(body) }
      const answer = await fetch(`${running.url}/v1/${path}`, { headers, ...sent })
      t.equal(answer.status, 200, path)
      return (await answer.json()) as Readonly<Record<string, unknown>>
    }
    t.match(await ask('vpn/203.0.114.7'), { networkClass: 'tor' }, 'the override')
    const { attestation_id: id } = await ask('provenance/check', { ip: '5.9.10.20', claimed_jurisdiction: 'DE' })
    const [evidence, keys] = [join(folder, `evidence-${id}.json`), join(folder, 'keys.json')]
    writeFileSync(evidence, JSON.stringify(await ask(`provenance/export?attestation_id=${id}`)))
    writeFileSync(keys, JSON.stringify(await ask('provenance/keys')))
    await say(command, 'evidence', 'verify', evidence, '--keys', keys)
    return evidence
  } finally {
    await running.stop()
  }
}

t.test('forward, back and forward again with one dataDir', { skip: await build() }, async (t) => {
  const place = ['--config', config]
  const { key, account } = JSON.parse(await say(PREVIOUS, 'keys', 'create', '--plan', 'pro', ...place, '--json'))
  await say(PREVIOUS, 'ip', 'set', '203.0.114.7', '--class', 'tor', ...place)
  const first = await serve(t, PREVIOUS, key)
  const second = await serve(t, THIS, key)
  const verify = (command: string, evidence: string) =>
    say(command, 'evidence', 'verify', evidence, '--keys', join(folder, 'keys.json'))
  for (const evidence of [first, second]) await verify(THIS, evidence)

  await t.rejects(serve(t, PREVIOUS, key), /bans\.db has tables of version/, 'what upgrading.md says to move away')
  for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `bans.db${end}`), { force: true })
  const third = await serve(t, PREVIOUS, key)
  t.match(await say(PREVIOUS, 'accounts', 'list', ...place), account.id)
  t.match(await say(PREVIOUS, 'ledger', 'verify', ...place), /^Good: /)
  for (const evidence of [first, second, third]) await verify(PREVIOUS, evidence)

  await serve(t, THIS, key)
  t.match(await say(THIS, 'ledger', 'verify', ...place), /^Good: /)
})
