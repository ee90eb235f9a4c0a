import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { publishData } from '../../src/open/index.ts'
import { openBucket, SECRET } from '../net/bucket.ts'
import { madeConfig } from './made-sources.ts'

t.test('a bucket gets the files that it does not have, and the manifest last', async (t) => {
  const { objects, asked, endpoint } = await openBucket(t)
  const variables = {
    AWS_REGION: 'eu-x',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_ENDPOINT_URL: endpoint,
  }
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  t.teardown(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  Object.assign(process.env, variables)
  const folder = t.testdir()
  const config = madeConfig(folder)
  const request = { to: 's3://bucket/data', key: join(folder, 'key.pem'), validMs: 3_600_000 }
  const published = await publishData(config, request)
  t.match(published, { files: 1, written: 1, keyMade: true })
  const puts = () =>
    asked.filter((line) => line.startsWith('PUT ')).map((line) => line.slice('PUT /bucket/data/'.length))
  t.match(puts(), [/^[0-9a-f]{64}$/, /^[0-9a-f]{64}\.sig$/, 'manifest.json'])
  const manifest = JSON.parse(String(objects.get('/bucket/data/manifest.json')))
  t.equal(manifest.version, published.version)
  t.equal(objects.get(`/bucket/data/${manifest.files[0].sha256}`)?.length, published.bytes)

  asked.length = 0
  t.match(await publishData(config, request), { written: 0, keyMade: false })
  t.match(puts(), [/\.sig$/, 'manifest.json'])
  const closed = { ...config, dataDir: join(folder, 'other'), net: { outbound: false } }
  await t.rejects(publishData(closed, request), { code: 'invalid_config', message: /net\.outbound/ })
  t.notOk(existsSync(join(folder, 'other')))
})
