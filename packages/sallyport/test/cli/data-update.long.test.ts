import { createServer } from 'node:http'
import { resolveFeeds } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { workspace } from './command.ts'

const LIST = 'x4bnet-vpn-ipv4'

/** A publisher of one list on loopback, and a configuration that knows no other. */
async function publisher(t: Test) {
  let list = ''
  const server = createServer((_, response) => response.writeHead(list === '' ? 404 : 200).end(list))
  const url = `http://127.0.0.1:${await listening(t, server)}/list`
  const off = resolveFeeds().flatMap(({ row }) =>
    row.id === LIST || row.package !== undefined ? [] : [`    ${row.id}: { enabled: false }`],
  )
  const lines = [...off, `    ${LIST}: { url: "${url}" }`, 'net: { allowPrivate: [127.0.0.1/32] }']
  const serve = (text: string) => {
    list = text
  }
  return { ...workspace(t, lines), serve }
}

t.test('data update fetches each source and shows the outcome, and so does data status', async (t) => {
  const { command, object, serve } = await publisher(t)
  serve('8.2.7.0/24\n')
  t.match(await command('data', 'update'), { code: 0, out: `${LIST}: updated, 1 entry\n` })
  const again = await command('data', 'update', '--source', LIST)
  t.match(again, { code: 0, out: `${LIST}: unchanged\n`, err: '' })

  t.match(
    (await command('data', 'status')).out,
    /^x4bnet-vpn-ipv4 +\d{4}-\d\d-\d\d +1 entry +0 min ago +100 % holds +MIT\n {4}VPN ranges, IPv4; generation [0-9a-f]{16}$/m,
  )
  const source = (await object('data', 'status')).find(({ id }: { id: string }) => id === LIST)
  t.match(source, { state: 'loaded', entries: 1, checked: /Z$/, staleAfter: /Z$/, generation: /^[0-9a-f]{16}$/ })
  const verdict = /verdict +vpn by range:vpn.*\nknown by +range_list, x4bnet-vpn-ipv4 of \d{4}-\d\d-\d\d\n/
  t.match((await command('lookup', '8.2.7.9')).out, verdict)

  serve('')
  t.match(await command('data', 'update'), {
    code: 1,
    out: `${LIST}: failed, the server responded with status 404\n`,
    err: /1 of 1 source could not be updated/,
  })
  serve('<html>')
  const refused = await command('data', 'update', '--json')
  t.equal(refused.code, 1)
  t.match(JSON.parse(refused.out), [{ source: LIST, state: 'refused', reason: /no line could be read/ }])
  const kept = /^x4bnet-vpn-ipv4 .* 1 entry .*\n.*last refresh: no line/m
  t.match((await command('data', 'status')).out, kept, 'the loaded data stays')
})

t.test('data update --rollback goes back, --accept forward', async (t) => {
  const { command, serve } = await publisher(t)
  const update = (...argv: readonly string[]) => command('data', 'update', ...argv)
  const list = (count: number) => Array.from({ length: count }, (_, index) => `8.2.${index}.0/24\n`).join('')
  t.match(await update('--rollback'), { code: 1, err: /No source has a previous generation/ })
  serve(list(20))
  await update()
  serve(list(5))
  const few = /the file has 5 entries, less than half of the previous 20/
  t.match(await update(), { code: 1, out: few })
  t.match(await update('--accept'), { code: 0, out: /updated, 5 entries/ })
  t.match(await update('--rollback', '--source', LIST), {
    code: 0,
    out: /^x4bnet-vpn-ipv4: restored generation [0-9a-f]{16}, 20 entries\n$/,
  })
  const rolled = /20 entries .*\n.*the\s+operator\s+rolled\s+this\s+version\s+back/
  t.match((await command('data', 'status')).out, rolled)
  for (const source of ['nothing', 'tor-bulk-exit'])
    t.match(await update('--source', source), { code: 2, err: new RegExp(`data\\.sources\\.${source}`) })
  t.equal((await update('--rollback', '--accept')).code, 2)
})
