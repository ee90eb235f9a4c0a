import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { browserFields, pairFields } from '../browser.ts'
import { visitorAddresses } from '../visitors.ts'

export const CONNECTIONS = 64
/** Each is another visitor, and their requests come again and again. */
export const VISITORS = 4_000

/** Reports one shot of load at one server. */
export interface Shot {
  readonly requests: number
  /** Holds the 99th percentile of the time until a response ended, in milliseconds. */
  readonly p99: number
  /** Counts missing answers and answers with another status than 2xx and 3xx. */
  readonly errors: number
}

/** Sends requests over `CONNECTIONS` connections. */
export type Shoot = (url: string, path: string, seconds: number) => Promise<Shot>

/** Writes the load of wrk on a processor; `visitors` send requests in turn. */
export async function openLoad(
  folder: string,
  processor: number,
  visitors = visitorAddresses(VISITORS),
): Promise<Shoot> {
  const script = join(folder, 'load.lua')
  await writeFile(script, writeScript(visitors))
  return async (url, path, seconds) => {
    const wrk = ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url, '--', path]
    const { stdout } = await promisify(execFile)('taskset', ['--cpu-list', String(processor), ...wrk])
    return JSON.parse(stdout.slice(stdout.lastIndexOf('{')))
  }
}

/** The client makes all requests before it sends the first. */
function writeScript(visitors: readonly string[]): string {
  const lines = pairFields(browserFields('VISITOR')).map((pair) => pair.join(': '))
  const [before, after] = `\r\n${lines.join('\r\n')}\r\n\r\n`.split('VISITOR').map((text) => JSON.stringify(text))
  return `
local visitors = { ${visitors.map((address) => `"${address}"`).join(', ')} }
local requests, sent = {}, 0
function init(arguments)
  local start = "GET " .. arguments[1] .. " HTTP/1.1"
  for at, visitor in ipairs(visitors) do requests[at] = start .. ${before} .. visitor .. ${after} end
end
function request()
  sent = sent % #requests + 1
  return requests[sent]
end
function done(summary, latency)
  local errors = summary.errors
  local bad = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('{"requests":%d,"p99":%f,"errors":%d}', summary.requests, latency:percentile(99) / 1e3, bad))
end
`
}
