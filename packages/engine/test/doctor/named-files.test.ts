import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '#stores/testing'
import { type ConfigInput, doctor, examineNamed, readConfigFrom } from '../../src/open/index.ts'
import { answering, DNS, of, soundConfig } from '../config/sound-config.ts'

t.test('files that the configuration names are read, as a start reads them', async (t) => {
  const config = await soundConfig(t)
  const folder = join(String(config.dataDir), '../named')
  mkdirSync(folder)
  const stars = `User-agent: *\n${Array.from({ length: 2_001 }, (_, at) => `Disallow: /*${at}*x\n`).join('')}`
  const texts = {
    'stars.txt': stars,
    'page.html': '{{title}}',
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
  const files = async (more: ConfigInput) => of(await doctor({ ...config, ...more }, { dns: DNS }), 'files')
  t.match(await files({}), [{ state: 'ok', found: 'There are no files besides data and certificates.' }])
  const lists = { mine: { file: at('list.txt') } }
  const good = { refusal: { template: at('page.html') }, lists, log: { file: at('new/decisions.log') } }
  t.match(await files(good), [{ state: 'ok', found: '3 of 3 are usable.' }])
  t.notOk(existsSync(at('new')), 'and none is made')
  const bad: readonly (readonly [ConfigInput, string, RegExp])[] = [
    [{ refusal: { template: at('none.html') } }, 'refusal.template', /none\.html does not exist\.$/],
    [{ refusal: { template: at('empty.html') } }, 'refusal.template', /empty\.html is empty\.$/],
    [{ refusal: { template: '/dev/zero' } }, 'refusal.template', /is not a regular file\.$/],
    [{ provenance: { policy: at('bad.yaml') } }, 'provenance.policy', /bad\.yaml:1: \S/],
    [{ provenance: { signingKey: at('open.pem') } }, 'provenance.signingKey', /is readable by other users/],
    [{ provenance: { signingKey: at('none.pem') } }, 'provenance.signingKey', /does not exist\.$/],
    [{ provenance: { signingKey: at('pipe') } }, 'provenance.signingKey', /pipe is not a regular file\.$/],
    [{ robots: { file: at('none.txt') } }, 'robots.file', /none\.txt does not exist\.$/],
    [{ robots: { file: '/dev/zero' } }, 'robots.file', /is not a regular file\.$/],
    [{ robots: { file: at('stars.txt') } }, 'robots.file', /has more than 2000 rules with a star within\.$/],
    [{ log: { file: folder } }, 'log.file', /is a folder\.$/],
    [{ log: { file: at('file/x.log') } }, 'log.file', /file is not a folder\.$/],
    [{ log: { file: at('file/deep/x.log') } }, 'log.file', /file is not a folder\.$/],
    [{ log: { file: at('loop/x.log') } }, 'log.file', /x\.log leads through a circular link\.$/],
    [{ refusal: { template: at('file/deep/x.html') } }, 'refusal.template', /x\.html does not exist\.$/],
    [{ log: { file: '/proc/sallyport/x.log' } }, 'log.file', /is in a file system of the kernel\.$/],
    [{ log: { file: `${at('logs')}/` } }, 'log.file', /logs\/ is a folder\.$/],
    [{ log: { file: at('gone/x.log') } }, 'log.file', /x\.log leads through a broken link\.$/],
    [{ lists: { mine: { file: at('saved.html') } } }, 'lists.mine.file', /saved\.html \S/],
    [{ lists: { mine: { file: at('list.bin') } } }, 'lists.mine.file', /list\.bin is binary/],
    [{ refusal: { template: '/proc/version' } }, 'refusal.template', /is in a file system of the kernel\.$/],
    [{ robots: { file: '/proc/version' } }, 'robots.file', /is in a file system of the kernel\.$/],
    [{ provenance: { signingKey: '/proc/version' } }, 'provenance.signingKey', /is in a file system of the kernel\.$/],
    [{ provenance: { signingKey: 'env:SALLYPORT_FAULT_UNSET' } }, 'provenance.signingKey', /_UNSET is not set\.$/],
    [{ provenance: { signingKey: 'env:PATH' } }, 'provenance.signingKey', /env:PATH is not a private key/],
  ]
  for (const [more, key, found] of bad) {
    const [only, ...others] = await files(more)
    t.match(only, { state: 'fail', found, advice: /\S/ })
    t.equal(only?.path?.join('.'), key)
    t.same(others, [])
  }
  const sources = { ...config.data?.sources, mine: { url: `file://${at('none.txt')}` } }
  t.match(await files({ data: { ...config.data, sources } }), [{ state: 'warn', found: /none\.txt does not exist\.$/ }])
  t.match(await files({ log: { file: at('pipe') } }), [
    { state: 'warn', found: /pipe is a pipe\.$/, advice: /reader of the pipe/ },
  ])
  for (const dataDir of ['/proc/sallyport/x', '/sys/x', '/dev/x']) {
    t.match(of(await doctor({ ...config, dataDir }, { dns: DNS }), 'dataDir'), [
      { state: 'fail', found: /kernel|devices/ },
    ])
  }
  t.match(of(await doctor({ ...config, dataDir: at('gone') }, { dns: DNS }), 'dataDir'), [
    { state: 'fail', found: /gone leads through a broken link\.$/ },
  ])
  for (const dataDir of [at('file/x'), at('file/x/deep')]) {
    t.match(of(await doctor({ ...config, dataDir }, { dns: DNS }), 'dataDir'), [
      { state: 'fail', found: `${at('file')} is not a folder.`, path: ['dataDir'] },
    ])
  }
  for (const [store, found] of [
    [at('file/state.db'), /file is not a folder\.$/],
    [at('file/deep/state.db'), /file is not a folder\.$/],
    [at('gone/state.db'), /leads through a broken link\.$/],
    [folder, /is a folder\.$/],
    [at('pipe'), /pipe is not a regular file\.$/],
    ['/dev/zero', /zero is not a regular file\.$/],
  ] as const) {
    const said = of(await doctor({ ...config, store: `sqlite:${store}` }, { dns: DNS }), 'store')
    t.match(said, [{ state: 'fail', found, path: ['store'] }])
  }
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
    `redis: redis://127.0.0.1:${port}`,
    `store: postgres://user:s3cret@127.0.0.1:${port}/x`,
    'log: { file: /sys/x/y.log }',
  ]
  writeFileSync(file, lines.join('\n'))
  const { errors, warnings } = await examineNamed(readConfigFrom({ file }), { dns: DNS })
  t.match(errors, [
    { key: 'refusal.template', place: { line: 4 }, message: '/no/page.html does not exist' },
    { key: 'log.file', place: { line: 7 }, message: '/sys/x/y.log is in a file system of the kernel' },
  ])
  t.match(warnings, [
    { key: 'store', place: { line: 6 }, message: /^127\.0\.0\.1:\d+ cannot be used: [^\n]+$/ },
    { key: 'redis', place: { line: 5 }, message: /^127\.0\.0\.1:\d+ cannot be used: [^\n]+$/ },
  ])
  t.same([errors.length, warnings.length], [2, 2])
  t.notMatch(JSON.stringify({ errors, warnings }), /s3cret|\n/)
  const taken = await answering(t, 'something else')
  writeFileSync(file, `listen: ${taken}\nadmin: ${admin}\ndataDir: ${dataDir}\n`)
  t.match(await examineNamed(readConfigFrom({ file }), { dns: DNS }), {
    errors: [],
    warnings: [{ key: 'listen', place: { line: 1 }, message: /is in use by another program$/ }],
  })
})
