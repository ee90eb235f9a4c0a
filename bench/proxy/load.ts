import { execFile } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pairFields } from '../browser.ts'

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

/** Sends requests over `CONNECTIONS` connections: each as soon as an answer came, or so many a second whenever answers come. */
export type Shoot = (url: string, path: string, seconds: number, rate?: number) => Promise<Shot>

/** Writes the load of wrk on a processor: requests with the fields of each visitor in turn. With `status`, any other answer is an error. */
export async function openLoad(
  folder: string,
  processor: number,
  visitors: readonly (readonly string[])[],
  status?: number,
): Promise<Shoot> {
  const script = join(await mkdtemp(join(folder, 'load-')), 'load.lua')
  await writeFile(script, writeScript(visitors, status))
  return async (url, path, seconds, rate) => {
    // At a rate, no request should wait for a connection that is busy.
    const sockets = rate === undefined ? CONNECTIONS : CONNECTIONS * 2
    const wrk = ['wrk', '-t1', `-c${sockets}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url, '--', path]
    if (rate !== undefined) wrk.push(String(rate))
    const { stdout } = await promisify(execFile)('taskset', ['--cpu-list', String(processor), ...wrk])
    return JSON.parse(stdout.slice(stdout.lastIndexOf('{')))
  }
}

/** The client makes all requests before it sends the first. */
function writeScript(visitors: readonly (readonly string[])[], status: number | undefined): string {
  const heads = visitors.map((fields) => {
    const lines = pairFields(fields).map((pair) => pair.join(': '))
    return JSON.stringify(`\r\n${lines.join('\r\n')}\r\n\r\n`)
  })
  return `
local heads = { ${heads.join(',\n')} }
local requests, sent = {}, 0
function init(arguments)
  local start = "GET " .. arguments[1] .. " HTTP/1.1"
  for at, head in ipairs(heads) do requests[at] = start .. head end
  if arguments[2] then pace(tonumber(arguments[2])) end
end
function pace(rate)
  local ffi, due = require("ffi"), nil
  ffi.cdef("typedef struct { long s, ns; } now_t; int clock_gettime(int clock, now_t *now);")
  local now = ffi.new("now_t")
  function delay()
    ffi.C.clock_gettime(1, now)
    local ms = tonumber(now.s) * 1e3 + tonumber(now.ns) / 1e6
    due = math.max((due or ms) + 1e3 / rate, ms - 1e3)
    return math.max(0, due - ms)
  end
end
function request()
  sent = sent % #requests + 1
  return requests[sent]
end
${status === undefined ? '' : countOthers(status)}
function setup(thread)
  client = thread
end
function done(summary, latency)
  local errors = summary.errors
  local bad = errors.connect + errors.read + errors.write + errors.timeout + (client:get("others") or errors.status)
  io.write(string.format('{"requests":%d,"p99":%f,"errors":%d}', summary.requests, latency:percentile(99) / 1e3, bad))
end
`
}

/** Lets the client read the status of each answer, which takes it longer. */
function countOthers(expected: number): string {
  return `
others = 0
function response(status)
  if status ~= ${expected} then others = others + 1 end
end`
}
