import { createChallengeSecrets, createChallenges } from '@sallyport/core'
import { createFakeClock, createFakeCounts } from '@sallyport/core/testing'
import type { RunningHost } from './hosts.ts'
import { HTTP1, type Protocol } from './protocols.ts'
import { solutionTo, solved } from './solution.ts'
import { ask, type WireResponse } from './wire.ts'

/** A browser that navigates, from an address of no network that is known. */
export const BROWSER = [
  ...['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'],
  ...['Accept', 'text/html,application/xhtml+xml', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'document'],
]

export const ADDRESS = '93.184.216.34'

export interface Visit {
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly address?: string | undefined
  readonly cookie?: string | undefined
  readonly fields?: readonly string[] | undefined
  readonly more?: readonly string[] | undefined
  readonly body?: string | undefined
}

/** Asks a running host as a browser does, unless other fields are given. */
export function visit(
  { port }: Pick<RunningHost, 'port'>,
  { method = 'GET', target = '/shop?item=1', address = ADDRESS, cookie, fields = BROWSER, more = [], body }: Visit = {},
  over: Protocol = HTTP1,
): Promise<WireResponse> {
  const cookies = cookie === undefined ? [] : ['Cookie', cookie]
  const sent = ['X-Forwarded-For', address, 'Connection', 'close', ...fields, ...cookies, ...more]
  return ask(port, over, { method, target, fields: sent, body })
}

/** Returns the name and value of the cookie that an answer sets, or '' for none. */
export function readCookie({ headers }: WireResponse): string {
  return (headers['set-cookie'] ?? '').toString().split(';', 1)[0] as string
}

/** Finds the solution of a page's question as its script finds it. */
export function readSolution({ body }: Pick<WireResponse, 'body'>): string {
  return solved(body).solution
}

/** Gives a solution back as the page does. */
export function redeem(host: Pick<RunningHost, 'port'>, solution: string, visited: Visit = {}, over?: Protocol) {
  const fields = visited.fields ?? [...BROWSER.slice(0, 2), 'Sec-Fetch-Site', 'same-origin']
  const more = ['sallyport-solution', solution, ...(visited.more ?? [])]
  return visit(host, { method: 'POST', target: '/.sallyport/pass', body: '', ...visited, fields, more }, over)
}

/** A pass as its cookie, earned by work. */
export async function earnPass(host: Pick<RunningHost, 'port'>, visited: Visit = {}, over?: Protocol): Promise<string> {
  const solution = readSolution(await visit(host, visited, over))
  const given = await redeem(host, solution, { ...visited, target: '/.sallyport/pass', method: 'POST' }, over)
  if (given.status !== 204) throw new Error(`${given.status} ${given.body}`)
  return readCookie(given)
}

/** `givenBefore` gives passes with this secret. */
export const SECRET = 'a secret of these tests, long enough for anybody'

/** Returns the cookie of a pass of twelve hours that `SECRET` gave this many hours ago. */
export async function givenBefore(hours: number): Promise<string> {
  const clock = createFakeClock(new Date(Date.now() - hours * 3_600_000).toISOString())
  const challenges = createChallenges({
    secrets: createChallengeSecrets([SECRET]),
    counts: createFakeCounts(clock),
    clock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  })
  const fields = ['Host', 'site.example', ...BROWSER]
  const head = { peer: '127.0.0.1', method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields } as const
  const terms = { level: 2, passMs: 12 * 3_600_000, script: false } as const
  const { text, puzzles, bits } = challenges.issue(head, { terms, rule: 'ask', pass: undefined })
  const solution = solutionTo({ challenge: text, puzzles, bits })
  const redeemed = await challenges.redeem(head, solution, { address: ADDRESS, network: 'unknown' })
  if ('refused' in redeemed) throw new Error(redeemed.refused)
  return `sallyport=${redeemed.pass}`
}
