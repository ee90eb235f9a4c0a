import { createServer } from 'node:http'
import { resolveFeeds } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { run, workspace } from './command.ts'

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
  return {
    ...workspace(t, lines),
    serve(text: string) {
      list = text
    },
  }
}

t.test('data update fetches, says what became of each source, and status tells it', async (t) => {
  const { config, serve } = await publisher(t)
  serve('8.2.7.0/24\n')
  const first = await run('data', 'update', '--config', config)
  t.match(first, { code: 0, out: `${LIST}: updated, 1 entry\n` })
  const again = await run('data', 'update', '--source', LIST, '--config', config)
  t.match(again, { code: 0, out: `${LIST}: unchanged\n`, err: '' })

  const { out } = await run('data', 'status', '--config', config)
  t.match(
    out,
    /^x4bnet-vpn-ipv4 +\d{4}-\d\d-\d\d +1 entry +0 min ago +100 % holds +MIT\n {4}VPN ranges, IPv4; generation [0-9a-f]{16}$/m,
  )
  const status = JSON.parse((await run('data', 'status', '--json', '--config', config)).out)
  t.match(
    status.find(({ id }: { id: string }) => id === LIST),
    { state: 'loaded', entries: 1, checked: /Z$/, staleAfter: /Z$/, generation: /^[0-9a-f]{16}$/ },
  )
  t.match(
    (await run('lookup', '8.2.7.9', '--config', config)).out,
    /verdict +vpn by range:vpn.*\nknown by +range_list, x4bnet-vpn-ipv4 of \d{4}-\d\d-\d\d\n/,
  )
})

t.test('a failed download is an exit code, and the loaded data stays', async (t) => {
  const { config, serve } = await publisher(t)
  serve('8.2.7.0/24\n')
  await run('data', 'update', '--config', config)
  serve('')
  const failed = await run('data', 'update', '--config', config)
  t.match(failed, {
    code: 1,
    out: `${LIST}: failed, the server responded with status 404\n`,
    err: /1 of 1 source could not be updated/,
  })
  serve('<html>')
  const refused = await run('data', 'update', '--json', '--config', config)
  t.equal(refused.code, 1)
  t.match(JSON.parse(refused.out), [{ source: LIST, state: 'refused', reason: /no line could be read/ }])
  t.match(
    (await run('data', 'status', '--config', config)).out,
    /^x4bnet-vpn-ipv4 .* 1 entry .*\n.*last refresh: no line/m,
  )
})

t.test('data update --rollback goes back, --accept forward', async (t) => {
  const { config, serve } = await publisher(t)
  const list = (count: number) => Array.from({ length: count }, (_, index) => `8.2.${index}.0/24\n`).join('')
  t.match(await run('data', 'update', '--rollback', '--config', config), {
    code: 1,
    err: /No source has a previous generation/,
  })
  serve(list(20))
  await run('data', 'update', '--config', config)
  serve(list(5))
  t.match(await run('data', 'update', '--config', config), {
    code: 1,
    out: /the file has 5 entries, less than half of the previous 20/,
  })
  t.match(await run('data', 'update', '--accept', '--config', config), { code: 0, out: /updated, 5 entries/ })
  const back = await run('data', 'update', '--rollback', '--source', LIST, '--config', config)
  t.match(back, { code: 0, out: /^x4bnet-vpn-ipv4: restored generation [0-9a-f]{16}, 20 entries\n$/ })
  t.match(
    (await run('data', 'status', '--config', config)).out,
    /20 entries .*\n.*the\s+operator\s+rolled\s+this\s+version\s+back/,
  )
})

t.test('a source that is none, or is not switched on, is named', async (t) => {
  const { config } = await publisher(t)
  for (const source of ['nothing', 'tor-bulk-exit']) {
    const { code, err } = await run('data', 'update', '--source', source, '--config', config)
    t.match({ code, err }, { code: 2, err: new RegExp(`data\\.sources\\.${source}`) })
  }
  t.equal((await run('data', 'update', '--rollback', '--accept', '--config', config)).code, 2)
})
