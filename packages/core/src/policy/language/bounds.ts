import type { Inspection } from '../../values/inspection.ts'
import type { Asked } from './asked.ts'
import { type Fault, unknown } from './fault.ts'
import type { Member, Values } from './values.ts'

/** Both bounds are inclusive; an absent bound limits nothing. */
export interface Bounds {
  readonly atLeast?: number | undefined
  readonly atMost?: number | undefined
}

/** Makes a number within bounds: `shape` describes each bound, `highest` is the greatest valid value. */
export function createBounds(
  subject: string,
  shape: Extract<Member['shape'], string>,
  [least, most]: readonly [number, number],
  highest?: number,
): Values<Bounds> {
  const isMeant = (value: number) => value >= 0 && value <= (highest ?? Number.MAX_SAFE_INTEGER)
  const limit = highest === undefined ? 'infinite' : String(highest)
  return {
    shape: {
      members: {
        atLeast: { shape, description: `Minimum ${subject}`, absent: '0', example: least },
        atMost: { shape, description: `Maximum ${subject}`, absent: limit, example: most },
      },
    },
    faults: (given): readonly Fault[] =>
      (['atLeast', 'atMost'] as const).flatMap((bound) => {
        const value = given[bound]
        if (value === undefined || isMeant(value)) return []
        const expected = highest === undefined ? 'a number from 0' : `0 to ${highest}`
        return [{ path: [bound], message: `${unknown(value)}: expected ${expected}` }]
      }),
  }
}

/** Compiles a test whether the number that `read` reads is within bounds. */
export function testBounds(
  bounds: Bounds,
  read: (inspection: Inspection, asked: Asked) => number,
): (inspection: Inspection, asked: Asked) => boolean {
  const isWithin = boundsTest(bounds)
  return (inspection, asked) => isWithin(read(inspection, asked))
}

export function boundsTest({ atLeast = 0, atMost = Number.POSITIVE_INFINITY }: Bounds): (value: number) => boolean {
  return (value) => value >= atLeast && value <= atMost
}
