import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type ConfigInput, openLedgerTools } from '@sallyport/engine'
import { probed, takeSample } from '../proxy/held.ts'
import type { Sample } from '../proxy/probe.ts'
import { descriptors, listChildren, resident } from '../proxy/processes.ts'
import { compileData, startSallyport } from '../proxy/sallyport.ts'
import { scratch } from '../scratch.ts'
import { carriedRate } from './carried.ts'
import { startChild } from './child.ts'
import { createKey, openPublisher, startChores } from './chores.ts'
import { clockText, type Finding, type Measured, makeFinding, reportFindings } from './promises.ts'
import { fitSlope } from './slope.ts'
import { openTraffic, type Tally, type Traffic } from './traffic.ts'
import { readPort } from './wire.ts'

/*
 * `npm run soak`, or `npm run soak -- --minutes 1 --rate 3000`: mixed requests through a proxy with two workers while everything about it
 * changes, and a day in each minute. What its processes hold once their garbage is collected must not grow.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '8' }, rate: { type: 'string', default: '3000' } },
})
const SECONDS = Number(values.minutes) * 60
/** Until caches are full. */
const WARM_UP_S = SECONDS / 4
/** Looking stops a process for some tenths of a second. */
const SAMPLE_S = 10
/** Share of all answers that may be refused; a proxy on a machine that is too busy refuses some for a moment. */
const MAX_SHED = 0.01

const POLICY = {
  preset: 'protect-content',
  allowlist: ['192.0.2.0/32'],
  rules: [
    { id: 'secret', match: { path: ['/.env'] }, action: 'block' },
    { id: 'many', match: { path: ['/echo'] }, action: 'throttle', limit: { key: 'client', max: 100, window: '1h' } },
  ],
  strikes: { count: 3, window: '1h', on: ['blocked'], for: '6h' },
} satisfies ConfigInput['policy']

/** Until all slots are back. */
const BACK_MS = 15_000
const IN_FLIGHT = /^sallyport_requests_in_flight\{.*\} ([\d.e+]+)$/gm

/** Growth a day that takes years to matter: Node keeps some 20 kB of a worker that was killed. */
const NOTHING_MB = 0.05

interface Moment {
  readonly at: number
  readonly values: Readonly<Record<string, number>>
}

async function main(): Promise<void> {
  await scratch(async (folder, cleanup) => {
    process.env['SOAK_BEGAN'] = String(Date.now())
    console.log(`a soak of ${clockText(SECONDS)}, two minutes of preparation before it`)
    const dataDir = join(folder, 'data')
    await compileData(dataDir)
    const clock = ['--import', join(import.meta.dirname, 'clock.js')]
    const [origin, names] = await Promise.all([startChild<number>('origin.js'), startChild<string>('name-server.js')])
    cleanup.teardown(() => Promise.all([origin.stop(), names.stop()]))
    const publisher = await openPublisher(cleanup)
    const raised: ConfigInput = {
      data: publisher.data,
      policy: POLICY,
      net: { allowPrivate: ['127.0.0.0/8'] },
      dns: { servers: [names.ready], timeoutMs: 200 },
      provenance: { retentionDays: 1 },
      log: { file: join(folder, 'requests.log') },
      timeouts: { tunnelIdle: '5s' },
    }
    const upstream = `http://127.0.0.1:${origin.ready}`
    const proxy = await startSallyport({
      folder,
      dataDir,
      upstream,
      raised,
      workers: 2,
      node: [...clock, ...probed(folder)],
    })
    cleanup.teardown(() => proxy.stop())
    const [kept] = listChildren(proxy.pid)
    if (kept === undefined) throw new Error('no worker')
    const first = await createKey(proxy.file, clock)
    const traffic = openTraffic(readPort(proxy.url), first.key)
    cleanup.teardown(() => traffic.close())
    const rate = await carriedRate(traffic, Number(values.rate))

    const share = SECONDS / 480
    const chores = startChores(
      {
        proxy,
        kept,
        node: clock,
        changeList: publisher.change,
        useKey: traffic.useKey,
        expectDeath: traffic.expectDeath,
        every: { listChanges: 40 * share, reloads: 25 * share, apiKeys: 30, signingKeys: 60, deaths: 70 * share },
      },
      first,
    )
    const { moments, tallies } = await soak(proxy, kept, { folder, traffic, rate }).catch((error: unknown) => {
      throw new Error(`the proxy said: ${proxy.said().slice(-4_000)}`, { cause: error })
    })
    await chores.stop()
    traffic.close()
    const bans = await metric(proxy.admin, /^sallyport_bans ([\d.e+]+)$/gm)
    const slots = await slotsLeft(proxy.admin)
    const ran = proxy.running()
    await proxy.stop()
    const ledger = await openLedgerTools({ dataDir })
    const { fault, records } = await ledger.verify()
    await ledger.close()

    const { listChanges, reloads, apiKeys, signingKeys, deaths } = chores.done
    const sum = (read: (tally: Tally) => number) => tallies.reduce((all, tally) => all + read(tally), 0)
    const answers = sum(({ answers }) => answers)
    const shed = sum(({ shed }) => shed)
    // Node's cluster does not take back the one connection that it is handing to a worker when that is killed.
    const untaken = sum(({ untaken }) => untaken)
    const failures = tallies.flatMap(({ failures }) => Object.entries(failures))
    const ids = new Set(traffic.attested)
    const lost = [...ids].filter((id) => id > records).length
    const findings: Finding[] = [
      makeFinding('answers', 'nothing comes that is not expected', {
        measured: `${answers} answers at ${Math.round(answers / SECONDS)} a second, ${sum(({ refused }) => refused)} refused, ${sum(({ left }) => left)} clients left, ${sum(({ connections }) => connections)} connections, ${sum(({ cutByDeath }) => cutByDeath)} cut when a worker died, ${untaken} never taken, ${shed} shed`,
        broken: [
          ...failures.map(([what, times]) => `${what} ×${times}`).slice(0, 20),
          ...(untaken > deaths ? [`${untaken} connections were never taken`] : []),
          ...(shed > answers * MAX_SHED ? [`${shed} of ${answers} were shed`] : []),
        ],
      }),
      makeFinding('changes', 'all of it was done', {
        measured: `${listChanges} lists changed, ${publisher.downloads()} taken, ${reloads} reloads, ${apiKeys} API keys and ${signingKeys} signing keys rotated, ${deaths} workers killed, ${bans} bans`,
        broken: [listChanges, reloads, apiKeys, signingKeys, deaths].includes(0) ? ['something was never done'] : [],
      }),
      makeFinding('ledger', 'every acknowledged record is there, in one chain', {
        measured: `${ids.size} acknowledged, ${records} kept`,
        broken: [
          ...(fault === undefined ? [] : [`the chain is broken: ${JSON.stringify(fault)}`]),
          ...(ids.size < traffic.attested.length ? ['an id was given twice'] : []),
          ...(lost > 0 ? [`${lost} are lost`] : []),
        ],
      }),
      makeFinding('slots', 'none leaks, and all are back within 15 s of the last request', slots),
      makeFinding('process', 'it lives, and says nothing of a fault', {
        measured: ran ? 'running at the end' : '',
        broken: [
          ...(ran ? [] : ['the proxy ended']),
          ...(/^ {4}at |MaxListeners|could not/m.test(proxy.said()) ? [proxy.said().slice(-2_000)] : []),
        ],
      }),
      ...flatness(moments),
    ]
    reportFindings(`soak of ${clockText(SECONDS)} at ${rate} requests a second, a day a minute`, findings)
  })
}

interface Soaked {
  readonly folder: string
  readonly traffic: Traffic
  readonly rate: number
}

/** Asks for all the time, and looks at the processes every few seconds. */
async function soak(proxy: { readonly pid: number }, kept: number, { folder, traffic, rate }: Soaked) {
  const moments: Moment[] = []
  const tallies: Tally[] = []
  for (let second = 0; second < SECONDS; second += SAMPLE_S) {
    const running = traffic.run(rate, SAMPLE_S)
    await delay((SAMPLE_S * 1_000) / 2)
    const [primary, worker] = await Promise.all([takeSample(proxy.pid, folder), takeSample(kept, folder)])
    moments.push({
      at: second / 60,
      values: { ...listValues('primary', primary, proxy.pid), ...listValues('worker', worker, kept) },
    })
    const tally = await running
    tallies.push(tally)
    const { values } = moments.at(-1) as Moment
    console.log(
      `${clockText(second + SAMPLE_S)} of ${clockText(SECONDS)}  ${Math.round(tally.perSecond)}/s  heap ${values['worker, heap, MB']?.toFixed(1)} MB, ${Math.round(resident(kept))} MB resident, ${values['worker, descriptors']} descriptors, ${tally.shed} shed${tally.errors > 0 ? `  ${JSON.stringify(tally.failures)}` : ''}`,
    )
  }
  return { moments, tallies }
}

function listValues(name: string, { heap, external, timers, listeners, emitters }: Sample, pid: number) {
  return {
    [`${name}, heap, MB`]: heap / 1e6,
    [`${name}, heap and buffers, MB`]: (heap + external) / 1e6,
    [`${name}, resident, MB`]: resident(pid),
    [`${name}, descriptors`]: descriptors(pid),
    [`${name}, timers`]: timers,
    [`${name}, listeners`]: listeners,
    [`${name}, emitters`]: emitters,
  }
}

/** A row for everything that must stay as it is once caches are full. */
function flatness(moments: readonly Moment[]): readonly Finding[] {
  const counted = moments.filter(({ at }) => at * 60 >= WARM_UP_S)
  return Object.keys(counted[0]?.values ?? {}).map((name) => {
    const { slope, low, high, mean } = fitSlope(counted.map(({ at, values }) => [at, values[name] ?? Number.NaN]))
    const [rounded, from, to] = [slope, low, high].map((value) => Number(value.toPrecision(2)))
    const nothing = name.endsWith('MB') ? NOTHING_MB : 0
    return makeFinding(name, `does not grow: its slope is not surely above ${nothing}`, {
      measured: `${Number(mean.toPrecision(4))} on average, ${rounded} a minute (95 %: ${from} to ${to})`,
      broken: low > nothing ? ['it grows'] : [],
    })
  })
}

async function metric(admin: string, pattern: RegExp): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text()
  return [...text.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0)
}

/** Waits until requests and tunnels have given back their slots; tunnels are idle for some seconds first. */
async function slotsLeft(admin: string): Promise<Measured> {
  const start = performance.now()
  let held = await metric(admin, IN_FLIGHT)
  while (held > 0 && performance.now() - start < BACK_MS) {
    await delay(200)
    held = await metric(admin, IN_FLIGHT)
  }
  const leaked = await metric(admin, /^sallyport_leaked_slots_total ([\d.e+]+)$/gm)
  const seconds = ((performance.now() - start) / 1_000).toFixed(1)
  return {
    measured: `${leaked} leaked, ${held} held ${seconds} s later`,
    broken: [...(held > 0 ? ['slots are not back'] : []), ...(leaked > 0 ? ['slots leaked'] : [])],
  }
}

// This process ends all programs that it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await main()
