import type { AgentVerdict } from '@sallyport/core'
import type { Goal } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { percent } from './scores.ts'
import {
  ALTERATIONS,
  browserSets,
  createSetJudge,
  type HeaderSet,
  isCopy,
  NETWORKS,
  type Network,
  programSets,
} from './sets.ts'

/** A judgement has the share of all requests that it represents. */
interface Weighed {
  readonly share: number
  readonly network: Network
  readonly verdict: AgentVerdict
}

type Kind = readonly [what: string, all: readonly Weighed[], accused?: Goal | undefined, doubted?: Goal]

/** Assumes where people and programs connect from: servers are few of the first and most of the second. */
const PEOPLE: Readonly<Record<Network, number>> = { residential_clean: 0.74, mobile: 0.2, vpn: 0.04, hosting: 0.02 }
const PROGRAMS: Readonly<Record<Network, number>> = { residential_clean: 0.3, mobile: 0, vpn: 0.1, hosting: 0.6 }
/** Assumes the share of browsers whose requests a middlebox alters. */
const ALTERED = 0.03

const isAccused = ({ verdict }: Weighed) => verdict.class !== 'human'
const isDoubted = (one: Weighed) => isAccused(one) || one.verdict.basis === 'absence'

/** The evidence of header fields against recorded browsers and programs, behind a proxy that ends TLS: no order, no JA4. */
export function judgeEvidence(run: Run): void {
  const judge = createSetJudge()
  const weigh = (sets: readonly HeaderSet[], places: Readonly<Record<Network, number>>, part = 1): readonly Weighed[] =>
    sets.flatMap((set) =>
      (Object.keys(NETWORKS) as Network[]).map((network) => ({
        share: (part * places[network]) / sets.length,
        network,
        verdict: judge(set, network, 'proxy'),
      })),
    )

  const browsers = browserSets()
  const recorded = browsers.filter(({ source, scheme }) => source === undefined && scheme === 'https')
  const described = browsers.filter(({ source }) => source !== undefined)
  const unaltered = weigh(recorded, PEOPLE)
  const altered = Object.values(ALTERATIONS).flatMap(({ share, alter }) =>
    weigh(
      recorded.map((set) => ({ ...set, headers: alter(set.headers) })),
      PEOPLE,
      share,
    ),
  )
  const mix = [...scaleShares(unaltered, 1 - ALTERED), ...scaleShares(altered, ALTERED)]
  const copies = programSets().filter(isCopy)
  const programs = weigh(copies, PROGRAMS)
  const writeCount = (count: number, what: string) => `${count.toLocaleString('en')} ${what}`

  const kinds: readonly Kind[] = [
    [writeCount(recorded.length, 'requests of browsers'), unaltered, { atMost: 0 }],
    ['3 % of them altered', mix, { atMost: 0.05 }],
    [writeCount(described.length, 'published, of WebViews, players, downloads'), weigh(described, PEOPLE)],
    [writeCount(copies.length, "of programs with a browser's user agent"), programs, undefined, { atLeast: 80 }],
    ['of these from hosting', from(programs, 'hosting')],
    ['from homes', from(programs, 'residential_clean')],
  ]
  run.table({
    title: 'Headers alone, https behind a proxy',
    figures: kinds.flatMap(([what, all, accused, doubted]) => [
      ...percent('taken for a program', what, computeShare(all, isAccused), { goal: accused }),
      ...percent('in doubt or worse', what, computeShare(all, isDoubted), { goal: doubted }),
    ]),
  })
}

function from(all: readonly Weighed[], place: Network): readonly Weighed[] {
  return all.filter(({ network }) => network === place)
}

function scaleShares(all: readonly Weighed[], part: number): readonly Weighed[] {
  return all.map((one) => ({ ...one, share: one.share * part }))
}

function sumShares(all: readonly Weighed[]): number {
  return all.reduce((sum, { share }) => sum + share, 0)
}

function computeShare(all: readonly Weighed[], test: (one: Weighed) => boolean): number {
  return sumShares(all.filter(test)) / sumShares(all)
}
