import type { AddressInfo } from 'node:net'
import fastifyRateLimit from '@fastify/rate-limit'
import { createNameTurns, parseAddress } from '@sallyport/core'
import type { Accounts } from '@sallyport/engine'
import {
  type Access,
  type ApiServices,
  createApi,
  createMemoryCounts,
  createSharedCounts,
  leaseCalls,
  loadTables,
  openAccountsAt,
  openCounts,
  ROUTES,
  recordKeyUses,
  rememberKeys,
} from '@sallyport/engine'
import { v1 } from '@sallyport/fastify'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import fastify from 'fastify'
import { report } from './shots.ts'

/*
 * Two servers in one process for the bench of limits: `node limits-server.js WITHOUT WITH TABLES ACCOUNTS LIMITS`, where
 * accounts and limits are URLs of their stores, and limits may be `memory`. The kinds of `/v1` are one route,
 * `/v1/vpn/{ip}`, that is open, asks for a key, or is limited by client; the others are the rate limits of two frameworks
 * around a handler of a few bytes. What the compiler made of the code is then the same for both, as it is in an
 * application that has routes of both kinds.
 */
const [without = '', inside = '', tables = '', accountsUrl = '', limitsUrl = ''] = process.argv.slice(2)
const PORT = { port: 0, host: '127.0.0.1' }

/** So large that it is never reached. */
const MAX = 1_000_000_000
const LIMIT = { name: 'BENCH', max: MAX, windowMs: 3_600_000 }

const ACCESS: Readonly<Record<string, Access>> = {
  open: { kind: 'open' },
  keyed: { kind: 'key', metered: true },
  client: { kind: 'client', limit: LIMIT },
}

const never = (): never => {
  throw new Error('not part of this bench')
}

async function serveV1(access: Access, metered: boolean): Promise<number> {
  const { networks, systems, rangesLoaded, proxiesLoaded } = loadTables(tables)
  const loaded = { ...(networks && { networks }), ...(systems && { systems }) }
  const snapshot = { ...loaded, rangesLoaded, proxiesLoaded, sources: [] }
  const accounts = await openCountedAccounts(metered)
  const services: ApiServices = {
    clock: { now: Date.now },
    snapshots: { current: () => snapshot },
    lookup: { lookup: never },
    check: never,
    whois: { find: never },
    nameTurns: createNameTurns(),
    crawlers: { check: never, verify: never },
    provenance: { attest: never, evidence: never, keys: never },
    accounts,
    counts:
      limitsUrl === 'memory'
        ? createMemoryCounts()
        : createSharedCounts(await openCounts(limitsUrl), { deadlineMs: 120, share: 0.5 }),
    client: ({ peer }) => ({ address: parseAddress(peer), via: 'peer', malformed: false, forwardedUntrusted: false }),
    onKeyUsed: recordKeyUses(accounts).used,
    onError: (error) => console.error(error),
  }
  const app = fastify()
  const rows = ROUTES.filter(({ path }) => path === '/v1/vpn/{ip}').map((row) => ({ ...row, access }))
  await app.register(v1, { sallyport: { api: createApi(services, rows) } })
  await app.listen(PORT)
  return (app.server.address() as AddressInfo).port
}

async function openCountedAccounts(metered: boolean): Promise<Accounts> {
  const accounts = rememberKeys(await openAccountsAt(accountsUrl))
  // The cost of metering shows by leaving it out.
  if (!metered) return { ...accounts, spend: async () => ({ granted: 1, used: 1, windowId: '' }) }
  return leaseCalls(accounts)
}

async function serveFastify(limited: boolean): Promise<number> {
  const app = fastify()
  if (limited) await app.register(fastifyRateLimit, { max: MAX, timeWindow: '1 hour' })
  app.get('/*', async () => 'hello')
  await app.listen(PORT)
  return (app.server.address() as AddressInfo).port
}

function serveExpress(limited: boolean): Promise<number> {
  const app = express()
  if (limited) app.use(rateLimit({ limit: MAX, windowMs: 3_600_000 }))
  app.use((_request, response) => void response.send('hello'))
  return new Promise((resolve) => {
    const server = app.listen(PORT.port, PORT.host, () => resolve((server.address() as AddressInfo).port))
  })
}

async function start(kind: string): Promise<number> {
  switch (kind) {
    case 'fastify':
    case 'fastify-limited':
      return serveFastify(kind === 'fastify-limited')
    case 'express':
    case 'express-limited':
      return serveExpress(kind === 'express-limited')
    case 'unmetered':
      return serveV1({ kind: 'key', metered: true }, false)
    default:
      return serveV1(ACCESS[kind] ?? never(), true)
  }
}

report(await start(without), await start(inside))
