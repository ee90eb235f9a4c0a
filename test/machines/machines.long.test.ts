import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  ALLOWANCES,
  billingWindow,
  type ConfigInput,
  openAccounts,
  openLedgerTools,
  openPostgresLedger,
} from '@sallyport/engine'
import { freePort, NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { noFront, run } from '../hosts/fronts.ts'
import { NO_DATA } from '../no-data.ts'
import { BIN, started } from '../started.ts'
import { granted, statuses } from './statuses.ts'

/* Four machines behind a balancer, each with a dataDir of its own: what they have in common is PostgreSQL and Redis. */
const skip = NO_POSTGRES || NO_REDIS || noFront('nginx')

const FEW = { key: 'client', max: 50, window: '1h', kind: 'fixed' } as const
const POLICY = {
  preset: 'observe',
  rules: [
    { id: 'secret', match: { path: ['/.env'] }, action: 'block' },
    { id: 'few', match: { path: ['/few'] }, action: 'throttle', limit: FEW },
  ],
  strikes: { count: 3, window: '10m', on: ['blocked'], for: '1h' },
} satisfies ConfigInput['policy']

interface Machine {
  readonly config: string
  readonly port: number
  pid: number
}

const startMachine = async (t: Test, config: string): Promise<number> =>
  (await started(t, [BIN, 'proxy', '--config', config], {}, 'Listening on')).pid

const startMachines = (t: Test, folder: string, common: ConfigInput): Promise<readonly Machine[]> =>
  Promise.all(
    [1, 2, 3, 4].map(async (number) => {
      const port = await freePort()
      const config = join(folder, `${number}.json`)
      const own = { listen: `127.0.0.1:${port}`, admin: '127.0.0.1:0', dataDir: join(folder, `data-${number}`) }
      writeFileSync(config, JSON.stringify({ ...common, ...own }))
      return { config, port, pid: await startMachine(t, config) }
    }),
  )

/** An nginx that gives each machine its turn, and says for whom it asks. */
async function startBalancer(t: Test, within: string, ports: readonly number[]): Promise<string> {
  const folder = join(within, 'nginx')
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const servers = ports.map((port) => `server 127.0.0.1:${port};`).join(' ')
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const temporary = places.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ')
  const forward =
    'proxy_pass http://machines; proxy_http_version 1.1; proxy_set_header Connection ""; ' +
    'proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;'
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; worker_processes 1; pid ${join(folder, 'pid')};
    error_log stderr crit; events { worker_connections 1024; }
    http { access_log off; ${temporary} upstream machines { ${servers} keepalive 32; }
    server { listen 127.0.0.1:${port}; location / { ${forward} } } }`,
  )
  await run(t, 'nginx', ['-e', 'stderr', '-c', join(folder, 'nginx.conf')], port)
  return `http://127.0.0.1:${port}`
}

t.test('four machines behind nginx, with PostgreSQL and Redis', { skip }, async (t) => {
  const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)])
  const folder = t.testdir()
  const signingKey = join(folder, 'ledger.pem')
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(signingKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const common = {
    store: await postgres.database(),
    redis: redis.url,
    data: { refresh: false, sources: NO_DATA },
    trustProxy: ['loopback'],
    demo: true,
    policy: POLICY,
    provenance: { signingKey },
    log: { requests: 'off' },
    // Four machines on one: Redis answers later than it does where it has a processor.
    timeouts: { counting: '2s' },
    limits: { eventLoopDelay: '1m' },
  } satisfies ConfigInput
  const store = await openAccounts({ ...common, dataDir: join(folder, 'own') })
  t.teardown(() => store.close())
  const { key, account } = await store.keyring.issue({ plan: 'free' })

  const machines = await startMachines(t, folder, common)
  const ports = machines.map(({ port }) => port)
  const url = await startBalancer(t, folder, ports)
  const as = (client: string, path: string) => fetch(`${url}${path}`, { headers: { 'x-forwarded-for': client } })
  const post = (path: string, body: object, by = key) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  await t.test('a rule counts as one machine does', async (t) => {
    const few = await statuses(80, 8, () => as('9.20.1.1', '/few'))
    t.same([few(429), few(200) + few(404)], [30, 50])
  })

  await t.test('a limit by client counts as one machine does', async (t) => {
    const calls = await statuses(70, 8, () => as('9.20.1.2', '/v1/myip'))
    t.same([calls(200), calls(429)], [60, 10])
  })

  await t.test('three strikes on three machines are a ban on all', async (t) => {
    for (let strike = 0; strike < 2; strike++) t.equal((await as('9.20.1.3', '/.env')).status, 403)
    t.not((await as('9.20.1.3', '/')).status, 403, 'two are not enough')
    t.equal((await as('9.20.1.3', '/.env')).status, 403)
    const everywhere = async () => (await statuses(8, 1, () => as('9.20.1.3', '/')))(403) === 8
    while (!(await everywhere())) await delay(50)
    t.not((await as('9.20.1.4', '/')).status, 403)
  })

  await t.test('one that is killed takes nothing with it that was answered, and is replaced', async (t) => {
    const given: number[] = []
    const attest = async () => {
      const response = await post('/v1/provenance/check', { ip: '192.0.2.1', claimed_jurisdiction: 'DE' })
      if (response.status !== 200) return response
      const { attestation_id: id } = (await response.clone().json()) as { readonly attestation_id: number }
      given.push(id)
      return response
    }
    const [victim] = machines as [Machine]
    const killing = (async () => {
      await delay(200)
      process.kill(victim.pid, 'SIGKILL')
      victim.pid = await startMachine(t, victim.config)
    })()
    const attested = await statuses(400, 8, attest)
    await killing
    const lost = [0, 502, 503, 504].reduce((sum, status) => sum + attested(status), 0)
    t.equal(attested(200) + lost, 400, 'answered, or known not to be')
    t.ok(lost <= 40, `${lost} were on their way to it, or waited too long for the database`)
    t.equal(new Set(given).size, given.length, 'no id twice')
    const later = await statuses(40, 4, attest)
    t.equal(later(200), 40, 'the one that came after serves and appends')

    const ledger = await openLedgerTools({ ...common, dataDir: join(folder, 'own') })
    t.teardown(() => ledger.close())
    const { fault, records } = await ledger.verify()
    t.equal(fault, undefined, 'one chain')
    t.ok(records >= given.length, `${records} records, ${given.length} ids given out`)
    const kept = await openPostgresLedger(common.store)
    t.teardown(() => kept.close())
    const missing: number[] = []
    for (const id of given) if ((await kept.find(id, `t/${account.id}`)) === undefined) missing.push(id)
    t.same(missing, [], 'every record that was acknowledged is there')
  })

  await t.test('the quota is exact', async (t) => {
    // An account of its own: what the killed one had reserved of the other is lost to that, as on one machine.
    const { key, account } = await store.keyring.issue({ plan: 'free' })
    const window = billingWindow(account.signupDate, Date.now()).id
    const left = 300
    await store.accounts.spend(account.id, window, ALLOWANCES.free, ALLOWANCES.free - left)
    const lookup = () => post('/v1/ip/lookup', { target: '192.0.2.1' }, key)
    const keyed = await statuses(500, 8, lookup)
    // One that waited too long for the database is refused too.
    t.equal(keyed(200) + keyed(429) + keyed(503), 500)
    t.ok(keyed(200) <= left)
    await granted(left - keyed(200), lookup)
    t.equal((await statuses(40, 4, lookup))(200), 0, 'and not one more')
    t.equal(await store.accounts.usage(account.id, window), ALLOWANCES.free)
  })
})
