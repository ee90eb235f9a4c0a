import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ALLOWANCES, billingWindow, type ConfigInput, openAccounts, openLedgerTools } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { NO_DATA } from '../no-data.ts'
import { granted, statuses } from './statuses.ts'

/** A dataDir of a test's own, with an account on the smallest plan of which `left` calls are left. */
async function openedStore(t: Test, left: number) {
  const config = {
    dataDir: join(t.testdir(), 'state'),
    data: { refresh: false, sources: NO_DATA },
  } satisfies ConfigInput
  const store = await openAccounts(config)
  t.teardown(() => store.close())
  const { key, account } = await store.keyring.issue({ plan: 'free' })
  const window = billingWindow(account.signupDate, Date.now()).id
  const used = ALLOWANCES.free - left
  t.equal((await store.accounts.spend(account.id, window, ALLOWANCES.free, used)).granted, used)
  return { config, key, usage: () => store.accounts.usage(account.id, window), used }
}

interface Application {
  readonly url: string
  /** Process ids of the workers that have said that they listen, in that order. */
  readonly pids: readonly number[]
  ready(workers: number): Promise<void>
}

async function startApplication(t: Test, config: ConfigInput): Promise<Application> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'cluster-app.js'), [JSON.stringify(config)])
  t.teardown(() => child.connected && child.disconnect())
  const pids: number[] = []
  let port = 0
  child.on('message', (message: { readonly pid: number; readonly port: number }) => {
    pids.push(message.pid)
    port = message.port
  })
  const ready = async (workers: number) => {
    while (pids.length < workers && child.exitCode === null) await delay(10)
  }
  await ready(4)
  return { url: `http://127.0.0.1:${port}`, pids, ready }
}

function lookup(url: string, key: string, signal?: AbortSignal): Promise<Response> {
  return post(`${url}/v1/ip/lookup`, key, { target: '192.0.2.1' }, signal)
}

function post(url: string, key: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: signal ?? null,
  })
}

t.test('four workers of an Express application share quota and limits exactly', async (t) => {
  const { config, key, usage } = await openedStore(t, 500)
  const { url, pids } = await startApplication(t, config)
  t.equal(new Set(pids).size, 4)

  const keyed = await statuses(700, 16, () => lookup(url, key))
  t.equal(keyed(200) + keyed(429), 700)
  t.ok(keyed(200) <= 500)
  await granted(500 - keyed(200), () => lookup(url, key))
  t.equal((await statuses(40, 4, () => lookup(url, key)))(429), 40, 'and not one more')
  t.equal(await usage(), ALLOWANCES.free)

  const keyless = await statuses(150, 16, () => fetch(`${url}/v1/demo/192.0.2.1`))
  t.same([keyless(200), keyless(429)], [100, 50])
})

t.test('kill -9 of workers takes back no call and no id that was given, and breaks no chain', async (t) => {
  const { config, key, usage, used } = await openedStore(t, 20_000)
  const { url, pids, ready } = await startApplication(t, config)
  const given: number[] = []
  const attest = async () => {
    const body = { ip: '192.0.2.1', claimed_jurisdiction: 'DE' }
    const response = await post(`${url}/v1/provenance/check`, key, body, soon())
    if (response.status === 200)
      given.push(((await response.clone().json()) as { attestation_id: number }).attestation_id)
    return response
  }
  // node:cluster loses a connection that it hands to a worker in the instant of its death.
  const soon = () => AbortSignal.timeout(5_000)
  const killed = pids.slice(0, 2)
  const killing = (async () => {
    for (const pid of killed) {
      await delay(300)
      process.kill(pid, 'SIGKILL')
    }
  })()
  const [lookups, attested] = await Promise.all([
    statuses(1_000, 8, () => lookup(url, key, soon())),
    statuses(300, 8, attest),
  ])
  await killing
  await ready(6)
  t.equal(lookups(200) + lookups(0), 1_000, 'nothing but a connection that broke')
  t.equal(attested(200) + attested(0), 300)

  // The living workers' unused reservations are theirs for a tenth of a second.
  await delay(300)
  const answered = lookups(200) + attested(200)
  const counted = (await usage()) - used
  const MAX_RESERVED = 1_000
  t.ok(counted >= answered, `${counted} counted, ${answered} answered`)
  t.ok(counted <= 1_300 + killed.length * MAX_RESERVED)
  t.equal((await lookup(url, key)).status, 200, 'the workers that came after serve')
  t.equal((await attest()).status, 200, 'and append')
  t.equal(new Set(given).size, given.length, 'no id twice')

  const ledger = await openLedgerTools(config)
  t.teardown(() => ledger.close())
  const { fault, records, checkpoints } = await ledger.verify()
  t.equal(fault, undefined, 'one chain')
  t.ok(records >= given.length, `${records} records, ${given.length} ids given out`)
  t.ok(checkpoints > 0)
})
