import type { DescribedBehaviour } from '../../values/behaviour.ts'
import { type Bounds, boundsTest } from '../language/bounds.ts'
import { type Fault, unknown } from '../language/fault.ts'
import type { Member, Values } from '../language/values.ts'
import { word } from './match-word.ts'

/** A member is true from this number of pages on. */
type Least = Pick<Bounds, 'atLeast'>

type Counted = keyof DescribedBehaviour

function countPages(what: string, example: number): Member {
  const atLeast: Member = { shape: 'pages', description: `Minimum number of ${what}`, absent: '0', example }
  return { shape: { members: { atLeast } }, description: what, example: { atLeast: example } }
}

const MEMBERS: Readonly<Record<Counted, Member>> = {
  pagesWithoutFiles: countPages('pages since the visitor last loaded a script, style, image or font', 10),
  cookiesNotReturned: countPages('pages without a returned cookie', 5),
  differentPages: countPages('different pages in the visit', 100),
}

const BEHAVIOUR: Values<{ readonly [Name in Counted]?: Least | undefined }> = {
  shape: { members: MEMBERS },
  faults: (given): readonly Fault[] =>
    Object.entries(given).flatMap(([name, { atLeast } = {}]) => {
      if (atLeast === undefined || (Number.isInteger(atLeast) && atLeast >= 0)) return []
      return [{ path: [name, 'atLeast'], message: `${unknown(atLeast)}: expected a whole number from 0` }]
    }),
}

/** Holds conditions on what the visitor has done in this visit. */
export const BEHAVIOUR_WORDS = {
  /** Members are joined by "and". */
  behaviour: word('Behaviour of the visitor in the visit', BEHAVIOUR, {
    asks: 'request',
    mayLack: true,
    test(given) {
      const tests = Object.entries(given).map(([name, bounds]) => {
        const isWithin = boundsTest(bounds ?? {})
        return (behaviour: DescribedBehaviour | undefined) => isWithin(behaviour?.[name as Counted] ?? 0)
      })
      return ({ behaviour }, { parts }) => {
        // A described request says what its visitor did, or leaves it open.
        const done = behaviour ?? parts.behaviour
        return done === 'unknown' ? undefined : tests.every((test) => test(done))
      }
    },
  }),
}
