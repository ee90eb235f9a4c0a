import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ConfigInput } from '@sallyport/engine'
import type { Test } from 'tap'
import { agree } from '../hosts/site.ts'
import { NO_DATA } from '../no-data.ts'
import { BIN, makeFolder, started } from '../started.ts'

/** Picks how much a test does: `npm run fault` sets TEST_LENGTH, and the suite takes less of everything. */
export function pickLength<T>(full: T, short: T): T {
  return process.env['TEST_LENGTH'] === 'full' ? full : short
}

/** Starts an origin. `/slow` never answers, any other path sends back the body and the `X-Echo` of its request; it accepts WebSockets. */
export async function openOrigin(t: Test): Promise<string> {
  const server = createServer(async ({ url, headers: { 'x-echo': number = '' } }, response) => {
    if (url === '/slow') return
    const body = await buffer(response.req).catch(() => undefined)
    if (body !== undefined) response.writeHead(200, { 'x-echo': number }).end(body)
  })
  server.on('upgrade', agree)
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 })
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts the proxy by its command, in a process of its own that knows nothing of any network; gives its port. */
export async function startGate(
  t: Test,
  upstream: string,
  config: ConfigInput = {},
): Promise<{ readonly port: number }> {
  const folder = makeFolder(t)
  const file = join(folder, 'sallyport.json')
  const own: ConfigInput = {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    dataDir: join(folder, 'data'),
    data: { refresh: false, sources: NO_DATA },
    upstream,
    ...config,
    // The gate refuses no request because the machine is busy with other tests.
    limits: { eventLoopDelay: '1m', ...config.limits },
  }
  writeFileSync(file, JSON.stringify(own))
  const { err } = await started(t, [BIN, 'proxy', '--config', file], {}, 'Listening on')
  return { port: Number(/Listening on \w+:\/\/[^/]*?:(\d+)/.exec(err())?.[1]) }
}
