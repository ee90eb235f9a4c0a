import { createHash, createHmac } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import { request } from 'undici'

/** A bucket that objects are put into, and who puts them. */
export interface S3Target {
  /** URL that the names of objects are put after; it ends with a slash. */
  readonly base: URL
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly sessionToken?: string | undefined
}

export interface S3Object {
  readonly name: string
  /** Bytes, or the path of a file. */
  readonly content: Uint8Array | string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

const EMPTY = createHash('sha256').digest('hex')
const TIMEOUT_MS = 900_000

/**
 * The bucket of `s3://BUCKET/PATH`, with the variables that every tool of S3 reads. `AWS_ENDPOINT_URL` names a server that
 * is not Amazon's; the bucket is then the first part of its paths. Throws `invalid_config` for what is missing.
 */
export function s3TargetOf(url: string, env: Readonly<Record<string, string | undefined>>): S3Target {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?$/.exec(url) ?? []
  if (bucket === undefined) throw new SallyportError('invalid_config', `${url}: must be s3://BUCKET/PATH`)
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION']
  const [accessKey, secretKey] = [env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY']]
  if (!region || !accessKey || !secretKey) {
    const what = 'AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set'
    throw new SallyportError('invalid_config', `${url}: ${what}`)
  }
  const endpoint = env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL']
  const at = endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${slashed(endpoint)}${bucket}`
  if (!URL.canParse(at)) throw new SallyportError('invalid_config', 'AWS_ENDPOINT_URL is not a URL')
  const base = new URL(slashed(`${slashed(at)}${path.replace(/^\/+/, '')}`))
  return { base, region, accessKey, secretKey, sessionToken: env['AWS_SESSION_TOKEN'] }
}

/** Puts an object, unless one of its name and size is there: for objects whose name is their digest. False where it was there. */
export async function putOnce(target: S3Target, object: S3Object): Promise<boolean> {
  const { statusCode, headers, body } = await ask(target, object.name, { method: 'HEAD', sha256: EMPTY })
  await body.dump()
  if (statusCode === 200 && Number(headers['content-length']) === object.bytes) return false
  await putObject(target, object)
  return true
}

/** Rejects with `update_failed` where the server cannot be asked, or does not take it. */
export async function putObject(target: S3Target, { name, content, bytes, sha256 }: S3Object): Promise<void> {
  const { statusCode, body } = await ask(target, name, { method: 'PUT', sha256, content, bytes })
  const answer = await body.text()
  if (statusCode === 200) return
  const [code = ''] = /^\w{1,64}/.exec(answer.split('<Code>', 2)[1] ?? '') ?? []
  throw failed(target, `answered ${statusCode} ${code} for ${name}`)
}

interface Question extends Partial<Pick<S3Object, 'content' | 'bytes'>> {
  readonly method: 'HEAD' | 'PUT'
  readonly sha256: string
}

async function ask(target: S3Target, name: string, { method, sha256, content, bytes }: Question) {
  const url = new URL(name, target.base)
  const headers = signed(target, { method, url, sha256, now: new Date() })
  if (bytes !== undefined) headers['content-length'] = String(bytes)
  const body = typeof content === 'string' ? createReadStream(content) : (content ?? null)
  try {
    return await request(url, { method, headers, body, headersTimeout: TIMEOUT_MS })
  } catch (error) {
    throw failed(target, error instanceof Error ? error.message : String(error))
  }
}

function failed({ base }: S3Target, reason: string): SallyportError {
  return new SallyportError('update_failed', `${base.host}: ${reason}`)
}

interface Signed {
  readonly method: string
  readonly url: URL
  readonly sha256: string
  readonly now: Date
}

/** AWS Signature Version 4 in headers, of a request without a query. */
function signed(target: S3Target, { method, url, sha256, now }: Signed): Record<string, string> {
  const { region, accessKey, secretKey, sessionToken } = target
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const headers: Record<string, string> = {
    host: url.host,
    'x-amz-content-sha256': sha256,
    'x-amz-date': time,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const names = Object.keys(headers).join(';')
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}`)
  const canonical = [method, url.pathname, '', ...lines, '', names, sha256].join('\n')
  const hashed = createHash('sha256').update(canonical).digest('hex')
  const text = ['AWS4-HMAC-SHA256', time, scope, hashed].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((key, part) => hmac(key, part).digest(), `AWS4${secretKey}`)
  const signature = hmac(key, text).digest('hex')
  const credential = `Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...headers, authorization: `AWS4-HMAC-SHA256 ${credential}` }
}

function hmac(key: string | Buffer, text: string) {
  return createHmac('sha256', key).update(text)
}

function slashed(text: string): string {
  return text.endsWith('/') ? text : `${text}/`
}
