import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { putObject, putOnce, s3TargetOf } from '#net'
import { openBucket, SECRET } from './bucket.ts'

const objectOf = (name: string, text: string) => {
  const content = Buffer.from(text)
  return { name, content, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
}

t.test('objects are put with a signature that the server computes too, and once', async (t) => {
  const { objects, asked, endpoint } = await openBucket(t)
  const env = {
    AWS_REGION: 'eu-x',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_ENDPOINT_URL: endpoint,
  }
  for (const more of [{}, { AWS_SESSION_TOKEN: 'to/ken+1=' }]) {
    objects.clear()
    asked.length = 0
    const target = s3TargetOf('s3://bucket/some/path', { ...env, ...more })
    const object = objectOf('ab.sig', 'text')
    t.equal(await putOnce(target, object), true)
    t.equal(await putOnce(target, object), false)
    t.same(
      asked,
      ['HEAD', 'PUT', 'HEAD'].map((method) => `${method} /bucket/some/path/ab.sig`),
    )
    t.same([...objects], [['/bucket/some/path/ab.sig', object.content]])
  }
  const file = join(t.testdir(), 'file')
  writeFileSync(file, 'a file')
  const target = s3TargetOf('s3://bucket', env)
  await putObject(target, { ...objectOf('file', 'a file'), content: file })
  t.same(objects.get('/bucket/file'), Buffer.from('a file'))
  await t.rejects(putObject({ ...target, secretKey: 'other' }, objectOf('x', 'y')), {
    code: 'update_failed',
    message: /^127\.0\.0\.1:\d+: answered 403 SignatureDoesNotMatch for x$/,
  })
  const gone = s3TargetOf('s3://bucket', { ...env, AWS_ENDPOINT_URL: 'http://127.0.0.1:9' })
  await t.rejects(putObject(gone, objectOf('x', 'y')), { code: 'update_failed', message: /ECONNREFUSED/ })
})

t.test('a bucket is found where Amazon has it, and what is missing is named', async (t) => {
  const env = { AWS_DEFAULT_REGION: 'eu-x', AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: SECRET }
  t.equal(s3TargetOf('s3://bucket/p', env).base.href, 'https://bucket.s3.eu-x.amazonaws.com/p/')
  t.equal(s3TargetOf('s3://bucket/', env).base.href, 'https://bucket.s3.eu-x.amazonaws.com/')
  for (const url of ['s3://', 's3://B', 's3://bucket/a?b'])
    t.throws(() => s3TargetOf(url, env), { code: 'invalid_config', message: /must be s3:\/\/BUCKET\/PATH/ })
  t.throws(() => s3TargetOf('s3://bucket', {}), { code: 'invalid_config', message: /AWS_REGION/ })
})
