import { setTimeout as delay } from 'node:timers/promises'
import { type Address, parseAddress, reservedRow } from '@sallyport/core'
import { addCookies, browserFields } from '../browser.ts'
import { makePasses, SECRET } from '../challenge/passes.ts'
import { computeSpread, type Figure, makeFigure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { compareRounds } from '../rounds.ts'
import { visitorAddresses } from '../visitors.ts'
import { OURS } from './contenders.ts'
import { CONNECTIONS, openLoad, type Shot, VISITORS } from './load.ts'
import { sizePath } from './servers.ts'
import { reportErrors, shootInTurn, type Taken, type Target } from './shot.ts'
import { OTHERS, type Stand, startOnStand } from './stand.ts'

/** The policy challenges requests of this path that hold no pass. The origin serves the same file for both paths. */
const CHALLENGED = `${sizePath('100 B')}?challenged=1`
const OPEN = `${sizePath('100 B')}?challenged=0`
const RULE = { id: 'challenged', match: { query: { challenged: ['1'] } }, action: 'challenge' } as const

/** Visitors beside a flood send so many requests a second, in shots that last so many times longer than others. */
const RATE = 300
const LONGER = 5
/** A flood begins so long before the visitors, and ends as long after them. */
const AROUND_SECONDS = 1

/** Measures what a pass adds to a request of 100 B, and how long visitors wait while others request challenges without pause. */
export async function measureChallenges(run: Run, stand: Stand): Promise<readonly Figure[]> {
  const policy = { rules: [{ ...RULE, challenge: { level: 2 as const } }] }
  const program = await startOnStand(stand, 'challenged', { raised: { challenge: { secret: SECRET }, policy } })
  const addresses = visitorAddresses(VISITORS * 2)
  const passes = await makePasses(VISITORS)
  const holders = passes.map((pass, at) => addCookies(browserFields(addresses[at] as string), `sallyport=${pass}`))
  const shootHolders = await openLoad(stand.folder, OTHERS, holders)
  const strangers = addresses.slice(VISITORS).filter(isPublic)
  const flooders = strangers.map((address) => browserFields(address))
  const flood = await openLoad(stand.folder, OTHERS, flooders, 403)

  const shootBeside = async (url: string, seconds: number): Promise<Shot> => {
    const flooding = flood(url, CHALLENGED, seconds + 2 * AROUND_SECONDS)
    const shooting = delay(AROUND_SECONDS * 1_000).then(() => stand.shoot(url, OPEN, seconds, RATE))
    const [challenged, shot] = await Promise.all([flooding, shooting])
    return { ...shot, errors: shot.errors + challenged.errors }
  }
  const target = (name: string, ask: Target['ask']): Target => ({ name, program, ask })
  const [without = [], held = []] = await shootInTurn(run, [
    target('without a pass', (url, seconds) => stand.shoot(url, OPEN, seconds)),
    // A pass that is not valid would be an error.
    target('with a pass', (url, seconds) => shootHolders(url, CHALLENGED, seconds)),
  ])
  const [beside = []] = await shootInTurn(run, [
    target('beside a flood', (url, seconds) => shootBeside(url, seconds * LONGER)),
  ])
  await program.stop()

  const readCpu = (taken: readonly Taken[]) => taken.map(({ cpu }) => cpu)
  const ratio = compareRounds(readCpu(held), readCpu(without))
  const p99 = computeSpread(beside.map((one) => one.p99))
  const figures = [
    makeFigure(OURS, '100 B with a pass, times without', '', ratio, { atMost: 1.03 }),
    makeFigure(OURS, `p99 beside ${CONNECTIONS} challenged connections`, 'ms', p99, { atMost: 50 }),
  ]
  return [...figures, ...reportErrors({ case: OURS, what: 'challenged' }, [...without, ...held, ...beside])]
}

/** Reports whether an address is public, because the proxy challenges no client with an internal address. */
function isPublic(address: string): boolean {
  return reservedRow(parseAddress(address) as Address) === undefined
}
