import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { open, readConfig, readEntry } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { workspace } from './command.ts'

const COMMANDS = join(import.meta.dirname, '../../../src/cli/commands')
const LIST = 'x4bnet-vpn-ipv4'
const ERASED = '203.0.114.9'

/** The names of all acts that the commands write down. */
function listActs(): readonly string[] {
  const texts = readdirSync(COMMANDS).map((name) => readFileSync(join(COMMANDS, name), 'utf8'))
  return texts.flatMap((text) => [...text.matchAll(/audited\(options, '([^']+)'/g)].map(([, what = '']) => what)).sort()
}

type Entry = Readonly<Record<string, unknown>>

/** A configuration with one list, whose publisher has another one at every visit. */
async function publisher(t: Test) {
  let visits = 0
  const server = createServer((_, response) => response.end(`8.2.${++visits}.0/24\n`))
  const url = `http://127.0.0.1:${await listening(t, server)}/list`
  return workspace(t, [
    `    ${LIST}: { url: "${url}" }`,
    'net: { allowPrivate: [127.0.0.1/32] }',
    'policy: { strikes: { key: client, count: 5, window: 10m, on: [blocked], for: 1h } }',
  ])
}

t.test('every administrative command is in the audit trail: who, what, and no secret', async (t) => {
  const { folder, config, command } = await publisher(t)
  const trail = () =>
    readFileSync(join(folder, 'data/audit.log'), 'utf8').split('\n').slice(0, -1).map(readEntry) as unknown as Entry[]
  const sallyport = await open(readConfig({ file: config }), { onNotice: () => {} })
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  await sallyport.provenance.attestDecision(sallyport.decide({ ...request, peer: ERASED }), 'DE')
  const until = Date.now() + 3_600_000
  await sallyport.bans.put({ id: 'ban-1', key: 'client 203.0.114.8', on: 'client', count: 3, since: Date.now(), until })
  await sallyport.close()

  const secrets: string[] = []
  const acts: string[] = []
  async function act(argv: readonly string[], details: object): Promise<Entry> {
    const before = acts.length
    const { code, out, err } = await command(...argv)
    t.equal(code, 0, `${argv.join(' ')}: ${err}`)
    const [entry, ...more] = trail().slice(before)
    t.same(more, [], 'one line')
    t.match(entry, { audit: String, who: /./, details }, argv.join(' '))
    t.equal(entry?.['error'], undefined)
    acts.push(String(entry?.['audit']))
    if (!argv.includes('--json')) return {}
    const printed = JSON.parse(out)
    if (typeof printed.key === 'string') secrets.push(printed.key)
    return printed
  }

  const account = await act(['accounts', 'create', '--name', 'Example', '--json'], { account: String })
  const id = String(account['id'])
  await act(['accounts', 'set-plan', id, 'pro'], { account: id, plan: 'pro' })
  const one = await act(['keys', 'create', '--account', id, '--json'], { key: String, account: id })
  const two = await act(['keys', 'rotate', String(one['id']), '--json'], { revoked: one['id'], account: id })
  await act(['keys', 'revoke', String(two['id'])], { key: two['id'] })
  await act(['keys', 'rotate-signing'], { kid: /^\S{43}$/, compromised: false })
  await act(['privacy', 'export', ERASED], { complete: true })
  await act(['privacy', 'erase', ERASED, '--yes'], { ledger: 1 })
  await act(['ip', 'set', '8.8.0.0/16', '--class', 'vpn'], { address: '8.8.0.0/16', class: 'vpn' })
  await act(['ip', 'unset', '8.8.0.0/16'], { address: '8.8.0.0/16' })
  await act(['bans', 'lift', 'ban-1'], { id: 'ban-1' })
  await act(['data', 'compile'], {})
  await act(['data', 'bundle', join(folder, 'networks.bundle')], { file: join(folder, 'networks.bundle') })
  await act(['data', 'update', '--source', LIST], { source: LIST })
  await act(['data', 'update', '--source', LIST, '--accept'], { source: LIST, accept: true })
  await act(['data', 'update', '--rollback', '--source', LIST], { source: LIST })

  t.same([...new Set(acts)].sort(), [...new Set(listActs())], 'each act that the commands have was tried')
  const text = readFileSync(join(folder, 'data/audit.log'), 'utf8')
  t.equal(secrets.length, 2)
  for (const secret of [...secrets.map((key) => key.slice(12)), ERASED]) t.notOk(text.includes(secret), 'no secret')
})
