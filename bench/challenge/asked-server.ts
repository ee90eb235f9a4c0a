import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { open } from '@sallyport/engine'
import { listener } from '@sallyport/node'
import { report } from '../shots.ts'
import { SECRET } from './passes.ts'

/* One small application twice in one process: where no rule asks, and where one asks everybody at level 1. */
const RULE = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 1 } } as const

function site(_request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json')
  response.end('{"hello":"world"}')
}

async function start(rules: readonly (typeof RULE)[]): Promise<number> {
  const sallyport = await open({
    trustProxy: ['loopback'],
    data: { refresh: false },
    challenge: { secret: SECRET },
    policy: { preset: 'observe', rules: [...rules] },
  })
  const server = createServer(listener(sallyport, site))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

report(await start([]), await start([RULE]))
