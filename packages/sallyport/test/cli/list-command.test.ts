import { chmodSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { workspace } from './command.ts'

t.test('a list is shown and changed by hand, and its comments stay', async (t) => {
  const { command, object, folder, write } = workspace(t, (folder) => [
    `lists: { wide: { file: ${folder}/wide.txt }, mine: { file: ${folder}/mine.txt }, office: [192.0.2.0/24], far: { url: 'https://lists.example/x?key=s3cret' }, j: { file: ${folder}/list.json } }`,
  ])
  const file = join(folder, 'mine.txt')
  chmodSync(write('real.txt', '# partners\n198.51.100.7 # since May\nAS64500'), 0o640)
  symlinkSync(join(folder, 'real.txt'), file)
  write('list.json', ['198.51.100.7'])
  write('wide.txt', '198.51.100.7\n0.0.0.0/0\n')
  const list = (...argv: readonly string[]) => command('list', ...argv)

  t.match(await list('show', 'mine'), { code: 0, out: '198.51.100.7\nAS64500\n' })
  t.match(await list('show', 'office', '192.0.2.7'), { code: 0, out: '192.0.2.0/24\n' })
  t.match(await list('show', 'mine', 'AS64501'), { code: 0, out: 'No entry of mine matches AS64501.\n' })
  t.match(await object('list', 'show', 'office'), { name: 'office', from: 'configuration', entries: ['192.0.2.0/24'] })
  t.match(await list('add', 'mine', '203.0.113.0/24', '198.51.100.7', '*Bot*'), {
    code: 0,
    out: '203.0.113.0/24, *Bot*: added to mine.\n',
  })
  t.equal(readFileSync(file, 'utf8'), '# partners\n198.51.100.7 # since May\nAS64500\n203.0.113.0/24\n*Bot*\n')
  t.equal(statSync(file).mode & 0o777, 0o640)
  const removed = '198.51.100.7: removed from mine.\n'
  t.match(await list('remove', 'mine', '198.51.100.7', '192.0.2.1'), { code: 0, out: removed })
  t.equal(readFileSync(file, 'utf8'), '# partners\nAS64500\n203.0.113.0/24\n*Bot*\n')
  t.match(await list('remove', 'mine', '192.0.2.1'), { code: 0, out: 'None of the entries is in mine.\n' })
  t.match(await list('add', 'mine', '300.1.1.1'), { code: 1, err: /"300\.1\.1\.1" is not an address/ })
  t.match(await list('add', 'mine', '192.0.2.9', '::/0'), { code: 1, err: /skipped .* lists\.mine\.wide: true/ })
  t.match(await list('show', 'wide'), { code: 0, out: '198.51.100.7\n', err: /list wide: skipped 0\.0\.0\.0\/0/ })
  t.match(await list('add', 'office', '192.0.2.1'), { code: 1, err: /is in the configuration/ })
  t.match(await list('add', 'far', '192.0.2.1'), { code: 1, err: /comes from a URL/ })
  t.match(await list('add', 'j', '192.0.2.1'), { code: 1, err: /is JSON/ })
  t.match(await list('show', 'far'), { code: 1, err: /has not been fetched yet/ })
  t.match(await list('show', 'mime'), { code: 1, err: /There is no list "mime": wide, mine, office, far, j/ })

  await Promise.all(Array.from({ length: 5 }, (_, at) => list('add', 'mine', `192.0.2.${at}`)))
  t.equal(readFileSync(file, 'utf8').match(/192\.0\.2\./g)?.length, 5, 'none is lost')
  const status = await command('data', 'status')
  t.match(status.out, /list:mine +\d{4}-\d\d-\d\d +8 entries +0 min ago/)
  t.match(status.out, /list:far +absent/)
  t.notMatch(status.out, /s3cret/)
})
