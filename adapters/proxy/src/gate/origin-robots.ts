import { HOUR_MS, KeptRobots, MAX_ROBOTS_BYTES, parseUrl, robotsText } from '@sallyport/core'
import type { RobotsSource } from '@sallyport/engine'
import type { Timeouts } from '@sallyport/engine/limits'
import { Client } from 'undici'
import { connectorTo } from '../origin/address.ts'
import type { Member } from '../origin/members.ts'
import type { Origin } from '../origin/origin.ts'
import type { Sites, SitesOptions } from './sites.ts'

/** Reads the robots.txt files which the origins of some sites have. */
export interface OriginRobots extends RobotsSource {
  read(host: string): Promise<void>
  close(): void
}

const PATH = '/robots.txt'
/** Limits the time of a whole answer. */
const ANSWER_MS = 30_000
/** Crawlers follow as many redirects (RFC 9309 section 2.3.1.2). */
const MAX_REDIRECTS = 5

/**
 * Requests robots.txt of an origin for each host that a route names: when a rule first needs it, and again an hour after the last request.
 * A passing answer would not do: it may be compressed, partial, or differ for each visitor.
 */
export function createOriginRobots(sites: Sites, { timeouts, onNotice = () => {} }: SitesOptions): OriginRobots {
  const ended = new AbortController()
  const kept = new Map<Origin, Map<string, KeptRobots>>()

  /** Finds the robots.txt of a host's site; a site without an origin has none, and refuses nothing. */
  function findRobots(named: string): KeptRobots | undefined {
    const { origin, host = '' } = sites.of(named, PATH) ?? {}
    if (origin === undefined) return undefined
    const known = kept.get(origin) ?? new Map<string, KeptRobots>()
    kept.set(origin, known)
    const name = host || (origin.members.all[0]?.address.text ?? '')
    const robots =
      known.get(host) ??
      new KeptRobots({
        id: `robots:${name}`,
        title: `robots.txt of ${name}`,
        every: HOUR_MS,
        ask: () => askOrigin(origin, host, timeouts, ended.signal),
        now: Date.now,
        onTurned: (message) => ended.signal.aborted || onNotice(message),
      })
    known.set(host, robots)
    return robots
  }

  return {
    refuses: (userAgent, target, host) => findRobots(host)?.refuses(userAgent, target) === true,
    text: (host) => findRobots(host)?.text,
    /** Requests the robots.txt of a host before a rule needs it. Never rejects. */
    read: async (host) => findRobots(host)?.read(),
    get status() {
      return [...kept.values()].flatMap((known) => [...known.values()].map(({ status }) => status))
    },
    /** Stops all requests. */
    close: () => ended.abort(),
  }
}

/** Returns the robots.txt of an origin; rejects where the origin does not answer. */
async function askOrigin(origin: Origin, host: string, timeouts: Timeouts, closed: AbortSignal): Promise<string> {
  closed.throwIfAborted()
  const { address } = origin.members.next() as Member
  const client = new Client(address.url, {
    connect: connectorTo(address, timeouts.originConnect, origin.trust),
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    maxHeaderSize: origin.headBytes,
  })
  const signal = AbortSignal.any([closed, AbortSignal.timeout(ANSWER_MS)])
  const headers = {
    host: host || address.url.host,
    'user-agent': 'sallyport',
    'accept-encoding': 'identity',
    // A site that requires https redirects requests without it.
    'x-forwarded-proto': 'https',
  }
  try {
    let path = PATH
    for (let turn = 0; turn <= MAX_REDIRECTS; turn++) {
      const { statusCode, headers: fields, body } = await client.request({ method: 'GET', path, signal, headers })
      // A body that ends with its client has no listener left for errors.
      body.on('error', () => {})
      if (statusCode >= 400 && statusCode < 500) return ''
      if (statusCode >= 500) throw new Error(`has the status ${statusCode}`)
      if (statusCode < 300) return robotsText(await readBytes(body, fields['content-encoding']))
      path = redirectedPath(fields['location'], { from: path, host: headers.host })
      await body.dump()
    }
    throw new Error(`is redirected more than ${MAX_REDIRECTS} times`)
  } catch (error) {
    throw describeFailure(error)
  } finally {
    await client.destroy()
  }
}

async function readBytes(body: AsyncIterable<Buffer>, encoding: string | string[] | undefined): Promise<Buffer> {
  if (encoding !== undefined && encoding !== 'identity')
    throw new Error('is compressed, which the proxy did not request')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_ROBOTS_BYTES) break
  }
  return Buffer.concat(chunks)
}

/** Returns the path to which a server redirects on itself; no other server is asked. */
function redirectedPath(
  location: string | string[] | undefined,
  { from, host }: { readonly from: string; readonly host: string },
): string {
  const base = `http://${host}`
  const to = String(location ?? '')
  const url = parseUrl(to, base + from)
  const path = url && url.pathname + url.search
  if (url === undefined || url.host !== new URL(base).host || path === from)
    throw new Error(`redirects to ${JSON.stringify(to.slice(0, 200))}, which the proxy does not follow`)
  return path as string
}

/** Describes a failure. Errors of undici and of sockets have codes, ours have a sentence. */
function describeFailure(error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  if (code !== undefined) return new Error(`could not be fetched: ${code}`)
  return error instanceof Error ? error : new Error(String(error))
}
