import { join } from 'node:path'
import { median } from '../rounds.ts'
import type { Place } from './contenders.ts'
import type { Load } from './load.ts'
import { familyOf, resident } from './processes.ts'
import { type Sallyport, startSallyport } from './sallyport.ts'
import { shoot, type Taken } from './shot.ts'

const COUNTS = [1, 2] as const

/** What a request costs through two workers and through one, on any processor, in turn; and what each process holds. */
export async function benchWorkers(
  place: Omit<Place, 'processor'>,
  load: Load,
  { rounds, warmUp, seconds }: { readonly rounds: number; readonly warmUp: number; readonly seconds: number },
): Promise<void> {
  const started: Sallyport[] = []
  try {
    for (const workers of COUNTS) {
      const folder = join(place.folder, `workers-${workers}`)
      started.push(await startSallyport({ ...place, folder, trustProxy: ['loopback'], workers }))
    }
    const taken: Record<number, Taken[]> = { 1: [], 2: [] }
    for (let round = -warmUp; round < rounds; round++) {
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const shot = await shoot(load, started[at] as Sallyport, '100 B', seconds)
        if (round >= 0) taken[COUNTS[at] as number]?.push(shot)
      }
    }
    const [one = [], two = []] = [taken[1], taken[2]]
    const ratio = median(two.map(({ cpu }, round) => cpu / (one[round] as Taken).cpu))
    console.log(`\ntwo workers take ${ratio.toFixed(2)} times one worker's processor time for a request of 100 B`)
    console.table(
      Object.fromEntries(
        COUNTS.map((workers, at) => [
          `${workers} worker${workers === 1 ? '' : 's'}`,
          {
            'µs a request': Number(median((taken[workers] ?? []).map(({ cpu }) => cpu)).toPrecision(3)),
            'requests/s': Math.round(median((taken[workers] ?? []).map(({ perSecond }) => perSecond))),
            'MB of each process': familyOf(started[at]?.pid ?? 0)
              .map((pid) => Math.round(resident(pid)))
              .join(', '),
          },
        ]),
      ),
    )
  } finally {
    for (const proxy of started) await proxy.stop()
  }
}
