import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '#stores/testing'
import { type ConfigInput, examineNamed, type Finding, readConfigFrom } from '../../src/open/index.ts'
import { answering, DNS, examine, soundConfig } from '../config/sound-config.ts'

t.test('files that the configuration names are read, as a start reads them', async (t) => {
  const config = await soundConfig(t)
  const folder = join(String(config.dataDir), '../named')
  mkdirSync(folder)
  const stars = `User-agent: *\n${Array.from({ length: 2_001 }, (_, at) => `Disallow: /*${at}*x\n`).join('')}`
  const texts = {
    'stars.txt': stars,
    'page.html': '{{title}}',
    'slip.html': '<p>{{titel}} {{text}}',
    'wide.html': Buffer.from('\ufeff<p>{{title}}', 'utf16le'),
    'empty.html': '',
    'bad.yaml': '[',
    'open.pem': 'no key',
    file: '',
    'list.txt': '192.0.2.1',
    'saved.html': '<!doctype html><html></html>',
    'list.bin': '192.0.2.1\u0000',
  }
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
  chmodSync(join(folder, 'open.pem'), 0o644)
  symlinkSync(join(folder, 'nowhere'), join(folder, 'gone'))
  symlinkSync(join(folder, 'loop'), join(folder, 'loop'))
  execFileSync('mkfifo', ['-m', '600', join(folder, 'pipe')])
  const at = (name: string) => join(folder, name)
  const files = (more: ConfigInput) => examine({ ...config, ...more }, 'files')
  t.match(await files({}), [{ state: 'ok', found: 'There are no files besides data and certificates.' }])
  const lists = { mine: { file: at('list.txt') } }
  const good = { refusal: { template: at('page.html') }, lists, log: { file: at('new/decisions.log') } }
  t.match(await files(good), [{ state: 'ok', found: '3 of 3 are usable.' }])
  t.notOk(existsSync(at('new')), 'and none is made')
  const sqlite = (path: string): ConfigInput => ({ store: `sqlite:${path}` })
  const bad: Readonly<Record<string, readonly (readonly [ConfigInput, string, RegExp])[]>> = {
    files: [
      [{ refusal: { template: at('none.html') } }, 'refusal.template', /none\.html does not exist\.$/],
      [{ refusal: { template: at('empty.html') } }, 'refusal.template', /empty\.html is empty\.$/],
      [{ refusal: { template: at('wide.html') } }, 'refusal.template', /wide\.html is encoded in UTF-16\./],
      [{ provenance: { policy: at('bad.yaml') } }, 'provenance.policy', /bad\.yaml:1: \S/],
      [{ provenance: { signingKey: at('open.pem') } }, 'provenance.signingKey', /is readable by other users/],
      [{ provenance: { signingKey: at('pipe') } }, 'provenance.signingKey', /pipe is not a regular file\.$/],
      [{ provenance: { signingKey: 'env:SALLYPORT_FAULT_UNSET' } }, 'provenance.signingKey', /_UNSET is not set\.$/],
      [{ provenance: { signingKey: 'env:PATH' } }, 'provenance.signingKey', /env:PATH is not a private key/],
      [{ robots: { file: '/dev/zero' } }, 'robots.file', /is not a regular file\.$/],
      [{ robots: { file: at('stars.txt') } }, 'robots.file', /has more than 2000 rules with a star within\.$/],
      [{ robots: { file: '/proc/version' } }, 'robots.file', /is in a file system of the kernel\.$/],
      [{ log: { file: folder } }, 'log.file', /is a folder\.$/],
      [{ log: { file: at('file/deep/x.log') } }, 'log.file', /file is not a folder\.$/],
      [{ log: { file: at('loop/x.log') } }, 'log.file', /x\.log leads through a circular link\.$/],
      [{ log: { file: '/proc/sallyport/x.log' } }, 'log.file', /is in a file system of the kernel\.$/],
      [{ log: { file: at('gone/x.log') } }, 'log.file', /x\.log leads through a broken link\.$/],
      [{ lists: { mine: { file: at('saved.html') } } }, 'lists.mine.file', /saved\.html \S/],
      [{ lists: { mine: { file: at('list.bin') } } }, 'lists.mine.file', /list\.bin is binary/],
    ],
    dataDir: [
      [{ dataDir: '/proc/sallyport/x' }, 'dataDir', /kernel/],
      [{ dataDir: '/dev/x' }, 'dataDir', /devices/],
      [{ dataDir: at('gone') }, 'dataDir', /gone leads through a broken link\.$/],
      [{ dataDir: at('file/x/deep') }, 'dataDir', /file is not a folder\.$/],
    ],
    store: [
      [sqlite(at('file/deep/state.db')), 'store', /file is not a folder\.$/],
      [sqlite(at('gone/state.db')), 'store', /leads through a broken link\.$/],
      [sqlite(folder), 'store', /is a folder\.$/],
      [sqlite(at('pipe')), 'store', /pipe is not a regular file\.$/],
      [sqlite(at('stars.txt')), 'store', /stars\.txt is not a SQLite database, or is corrupt\.$/],
    ],
  }
  for (const [check, rows] of Object.entries(bad)) {
    for (const [more, key, found] of rows) {
      const [only, ...others] = await examine({ ...config, ...more }, check as Finding['check'])
      t.match(only, { state: 'fail', found })
      t.same([only?.path?.join('.'), others], [key, []])
      if (check === 'files') t.match(only?.advice, /\S/)
    }
  }
  for (const [path, found] of [
    [at('none.txt'), /none\.txt does not exist\.$/],
    [at('file'), /file is empty\.$/],
    ['/dev/zero', /zero is not a regular file\.$/],
  ] as const) {
    const sources = { ...config.data?.sources, mine: { url: `file://${path}` } }
    t.match(await files({ data: { ...config.data, sources } }), [{ state: /warn|fail/, found }])
  }
  const slip = { state: 'warn', found: /unknown placeholder \{\{titel\}\}; did you mean "title"\?/ }
  t.match(await files({ refusal: { template: at('slip.html') } }), [slip])
  const pipe = { state: 'warn', found: /pipe is a pipe\.$/, advice: /reader of the pipe/ }
  t.match(await files({ log: { file: at('pipe') } }), [pipe])
})

t.test('faults of what a configuration names are faults at its lines, and what may pass is a warning', async (t) => {
  const { listen, admin, dataDir } = await soundConfig(t)
  const port = await freePort()
  const file = join(String(dataDir), '../sallyport.yaml')
  const lines = [
    `listen: ${listen}`,
    `admin: ${admin}`,
    `dataDir: ${dataDir}`,
    'refusal: { template: /no/page.html }',
    `redis: redis://:s3cret@127.0.0.1:${port}`,
    `store: postgres://user:s3cret@127.0.0.1:${port}/x`,
    'log: { file: /sys/x/y.log }',
  ]
  writeFileSync(file, lines.join('\n'))
  const { errors, warnings } = await examineNamed(readConfigFrom({ file }), { dns: DNS })
  t.match(errors, [
    { key: 'refusal.template', place: { line: 4 }, message: '/no/page.html does not exist' },
    { key: 'log.file', place: { line: 7 }, message: '/sys/x/y.log is in a file system of the kernel' },
  ])
  const message = /^127\.0\.0\.1:\d+ cannot be used: [^\n]+$/
  const [store, redis] = [6, 5].map((line) => ({ place: { line }, message }))
  const byKey = Object.fromEntries(warnings.map((warning) => [warning.key, warning]))
  t.match(byKey, { store, redis })
  t.same([errors.length, warnings.length], [2, 2])
  t.notMatch(JSON.stringify({ errors, warnings }), /s3cret|\n/)
  const taken = await answering(t, 'something else')
  writeFileSync(file, `listen: ${taken}\nadmin: ${admin}\ndataDir: ${dataDir}\n`)
  const inUse = [{ key: 'listen', place: { line: 1 }, message: /is in use by another program$/ }]
  t.match(await examineNamed(readConfigFrom({ file }), { dns: DNS }), { errors: [], warnings: inUse })
})
