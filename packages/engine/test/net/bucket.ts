import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'
import { listening } from '#stores/testing'

export const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

/** A bucket that computes each signature itself, from what came over the wire (AWS Signature Version 4). */
export async function openBucket(t: Test) {
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
  })
  return { objects, asked, endpoint: `http://127.0.0.1:${await listening(t, server)}` }
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
