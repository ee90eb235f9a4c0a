import type { Subject } from '../history/subjects.ts'
import { type Counted, mergeTops } from '../history/top.ts'
import type { Gather, Share } from '../shares/share.ts'

type Tops<Name extends Subject> = Readonly<Record<Name, readonly Counted[]>>
/** How many values of each subject. */
type Limits<Name extends Subject> = Readonly<Record<Name, number>>

interface TopsQuestion<Limited = Partial<Limits<Subject>>> {
  readonly limits: Limited
  readonly now: number
  readonly hours: number
}

/** Values of each process beyond what is shown, because what is frequent in all may be less so in one. */
const BEYOND = 5

export const TOPS: Share<TopsQuestion, Partial<Tops<Subject>>> = {
  name: 'tops',
  own: ({ limits, now, hours }, { history }) =>
    bySubject(limits, (subject, limit) => history.top(subject, now, hours, limit * BEYOND)),
}

/** The most frequent values of all processes. */
export async function topsOf<Name extends Subject>(
  gather: Gather,
  question: TopsQuestion<Limits<Name>>,
): Promise<Tops<Name>> {
  const { shares } = await gather(TOPS, question)
  return bySubject(question.limits, (subject, limit) =>
    mergeTops(
      shares.map((share) => share[subject] ?? []),
      limit,
    ),
  ) as Tops<Name>
}

function bySubject<T>(limits: Partial<Limits<Subject>>, of: (subject: Subject, limit: number) => T) {
  const rows = Object.entries(limits).map(([subject, limit]) => [subject, of(subject as Subject, limit)])
  return Object.fromEntries(rows) as Partial<Readonly<Record<Subject, T>>>
}
