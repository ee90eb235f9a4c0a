import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { putObject, putOnce, s3TargetOf } from '#net'

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

/** A bucket that computes each signature itself, from what came over the wire (AWS Signature Version 4). */
async function openBucket(t: Test) {
  const objects = new Map<string, Buffer>()
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const path = request.url ?? ''
    asked.push(`${request.method} ${path}`)
    if (!isSigned(request, body)) {
      const text = '<Error><Code>SignatureDoesNotMatch</Code></Error>'
      return response.writeHead(403, { 'content-length': text.length }).end(text)
    }
    if (request.method === 'PUT') objects.set(path, body)
    const found = objects.get(path)
    return found === undefined
      ? response.writeHead(404).end()
      : response.writeHead(200, request.method === 'HEAD' ? { 'content-length': found.length } : {}).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { objects, asked, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function isSigned({ method, url, headers }: IncomingMessage, body: Buffer): boolean {
  const given =
    /^AWS4-HMAC-SHA256 Credential=AKID\/(\d{8})\/eu-x\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/
  const [, day = '', names = '', signature] = given.exec(headers.authorization ?? '') ?? []
  const hash = createHash('sha256').update(body).digest('hex')
  if (headers['x-amz-content-sha256'] !== hash) return false
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.split(';').includes(name))) return false
  const time = String(headers['x-amz-date'])
  if (!/^\d{8}T\d{6}Z$/.test(time) || !time.startsWith(day)) return false
  const listed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = `${method}\n${url}\n\n${listed.join('')}\n${names}\n${hash}`
  const digest = createHash('sha256').update(canonical).digest('hex')
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${day}/eu-x/s3/aws4_request\n${digest}`
  const dayKey = createHmac('sha256', `AWS4${SECRET}`).update(day).digest()
  const regionKey = createHmac('sha256', dayKey).update('eu-x').digest()
  const serviceKey = createHmac('sha256', regionKey).update('s3').digest()
  const key = createHmac('sha256', serviceKey).update('aws4_request').digest()
  return createHmac('sha256', key).update(toSign).digest('hex') === signature
}

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
