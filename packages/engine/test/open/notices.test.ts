import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { open } from '../../src/open/open.ts'
import { type NoticeCode, saysCompiling } from '../../src/service/hooks.ts'
import { bernDatabase, madeConfig } from './made-sources.ts'

const OPEN = join(import.meta.dirname, '../../src/open/index.js')

t.test('without a hook a notice is one sentence on stderr', async (t) => {
  const program = `const { open } = await import(process.argv[1]); await (await open(JSON.parse(process.argv[2]))).close()`
  const config = JSON.stringify(madeConfig(t.testdir()))
  const args = ['--input-type=module', '-e', program, OPEN, config]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  t.equal(stdout, '')
  t.match(stderr, /^sallyport: No city database is loaded\. \S[^\n]+\n$/)
  t.notMatch(stderr, /SALLYPORT_|\(node:|trace-warnings/)
})

t.test('a program that shows no progress hears once that a long compile has begun', async (t) => {
  const said: string[] = []
  const onProgress = saysCompiling((code, message) => said.push(`${code} ${message}`))
  onProgress('small', 0, 10_000)
  t.same(said, [])
  for (const done of [0, 1_000_000]) onProgress('one', done, 50_000_000)
  onProgress('two', 0, 60_000_000)
  t.match(said, [/^SALLYPORT_DATA_COMPILING Compiling the data takes 5 to 15 seconds/])
})

t.test('the notice of stale data is the first that open() says', async (t) => {
  const said = async (config: Parameters<typeof open>[0]) => {
    const notices: NoticeCode[] = []
    const sallyport = await open(config, { onNotice: (code) => notices.push(code) })
    await sallyport.close()
    return notices
  }
  const folder = t.testdir()
  const config = madeConfig(folder)
  t.same(await said(config), ['SALLYPORT_DATA_STALE'])
  t.same(await said({ ...config, data: { ...config.data, city: false } }), [])
  t.same(await said(madeConfig(folder, { city: bernDatabase() })), [], 'cities are there')
})
