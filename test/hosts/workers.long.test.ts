import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { address4, address6, formatAddress } from '@sallyport/core'
import { bundleData, type ConfigInput, MAX_BUNDLE_BYTES, open } from '@sallyport/engine'
import { guard } from '@sallyport/fetch'
import { openBundle } from '@sallyport/fetch/workers'
import t from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { makeFolder } from '../started.ts'
import { ROOT } from '../workspaces.ts'

/* Compares decisions over a bundle of the embedded data, in Node and in workerd, with a service over the same data. */
const CONFIG = { dataDir: DATA_DIR, data: { refresh: false, city: false } } as const
const POLICY = {
  preset: 'observe',
  rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }],
} satisfies ConfigInput['policy']
const MAX_PLACES = 5_000
const GET = { method: 'GET', target: '/', scheme: 'https', httpVersion: '1.1', fields: [] } as const

const [bundle, sallyport] = [await bundleData(CONFIG), await open({ ...CONFIG, policy: POLICY })]
t.teardown(() => sallyport.close())

t.test('a bundle of all embedded networks is small enough for a Worker', async (t) => {
  t.ok(bundle.length <= MAX_BUNDLE_BYTES, `${bundle.length} bytes`)
})

t.test('it decides as the service does', async (t) => {
  const decider = await openBundle(bundle, { policy: POLICY })
  const wrong: unknown[] = []
  let seed = 1
  const word = () => (seed = Math.imul(seed, 1_664_525) + 1_013_904_223)
  for (let count = 0; count < MAX_PLACES; count++) {
    // Half of the addresses of IPv6 are in what is given out.
    const address = count % 2 === 0 ? address4(word()) : address6(0x20010000 | (word() & 0xffff), word(), 0, 1)
    const request = { ...GET, peer: formatAddress(address) }
    const [own, other] = [decider, sallyport].map(({ decide }) => {
      const { action, inspection } = decide(request)
      const { verdict, asn, asType } = inspection.network
      return JSON.stringify([action, verdict, asn, asType])
    })
    if (own !== other) wrong.push([request.peer, own, other])
  }
  t.same(wrong.slice(0, 3), [], `${wrong.length} of ${MAX_PLACES} differ`)
})

t.test('guard takes it, and what it cannot do is refused', async (t) => {
  const decider = await openBundle(bundle, { policy: POLICY })
  const visit = async (address: string) => {
    const { response, end } = await guard(decider, new Request('https://site.example/'), { address })
    return (response ?? end(new Response('welcome'))).status
  }
  t.same([await visit('185.220.101.10'), await visit('73.162.10.20')], [403, 200])
  const limit = { key: 'client', max: 3, window: '1h' }
  for (const [options, code, message] of [
    [{ policy: { rules: [{ id: 'few', match: {}, limit, action: 'throttle' }] } }, 'invalid_policy', /./],
    [{ mode: 'enforced' }, 'invalid_config', /./],
    [{ ja4Header: 'a b' }, 'invalid_config', /^ja4Header: /],
    [{ policies: {} }, 'invalid_config', /"policies"/],
  ] as const) {
    await t.rejects(openBundle(bundle, options as never), { code, message })
  }
  for (const cut of [bundle.subarray(0, 1000), new Uint8Array(0)]) {
    await t.rejects(openBundle(cut), { code: 'corrupt_data' })
  }
})

/** The workerd of npm, a hundred megabytes: installed beside by who wants to see it there, or named. */
const WORKERD = (() => {
  const named = process.env['SALLYPORT_WORKERD']
  try {
    return named ?? createRequire(join(ROOT, 'package.json')).resolve('workerd/bin/workerd')
  } catch {
    return undefined
  }
})()

/** The configuration of workerd, which says on the fourth descriptor which port it has. */
const SETTINGS = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "networks.bundle", data = embed "networks.bundle"),
  ],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ["nodejs_compat"],
);
`

const WORKER = `
import { guard } from '@sallyport/fetch'
import { openBundle } from '@sallyport/fetch/workers'
import bundle from './networks.bundle'
let opening
export default {
  async fetch(request) {
    opening ??= openBundle(bundle, { policy: ${JSON.stringify(POLICY)} })
    const address = request.headers.get('x-made-address') ?? undefined
    const { decision, response, end } = await guard(await opening, request, { address })
    return response ?? end(Response.json({ networkClass: decision.inspection.network.verdict.classification }))
  },
}`

t.test('in workerd', { skip: WORKERD === undefined && 'no workerd is installed' }, async (t) => {
  const folder = makeFolder(t)
  const made = ['--bundle', '--format=esm', '--platform=node', `--outfile=${join(folder, 'worker.mjs')}`]
  const outside = ['--external:node:*', '--external:./networks.bundle', '--log-level=error']
  execFileSync(join(ROOT, 'node_modules/.bin/esbuild'), [...made, ...outside], {
    cwd: join(ROOT, 'test'),
    input: WORKER,
  })
  writeFileSync(join(folder, 'networks.bundle'), bundle)
  writeFileSync(join(folder, 'config.capnp'), SETTINGS)
  const child = spawn(WORKERD ?? '', ['serve', '--control-fd=3', join(folder, 'config.capnp')], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const ended = once(child, 'close')
  t.teardown(() => {
    child.kill()
    return ended
  })
  const [said] = await once(child.stdio[3] as Readable, 'data')
  const { port } = JSON.parse(String(said))
  const visit = async (address: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-made-address': address } })
    const { networkClass, error } = (await answer.json()) as Readonly<Record<string, unknown>>
    return [answer.status, networkClass ?? error]
  }
  t.same(await visit('185.220.101.10'), [403, 'request_blocked'])
  t.same(await visit('73.162.10.20'), [200, 'residential_clean'])
})
