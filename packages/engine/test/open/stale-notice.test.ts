import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { open } from '../../src/open/open.ts'
import type { NoticeCode } from '../../src/service/hooks.ts'
import { bernDatabase, madeConfig } from './made-sources.ts'

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
  const file = join(folder, 'city.mmdb')
  writeFileSync(file, bernDatabase())
  const sources = { ...config.data?.sources, city: { url: pathToFileURL(file).href } }
  t.same(await said({ ...config, data: { ...config.data, sources } }), [], 'cities are there')
})
