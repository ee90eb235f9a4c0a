import type { Subject } from '../history/subjects.ts'
import { type Counted, mergeTops } from '../history/top.ts'
import type { Gather, Share } from '../shares/share.ts'

/** Which subjects, and how many values of each. */
type Limits = Partial<Readonly<Record<Subject, number>>>
type Tops = Partial<Readonly<Record<Subject, readonly Counted[]>>>

interface TopsQuestion {
  readonly limits: Limits
  readonly now: number
  readonly hours: number
}

/** Values of each process beyond what is shown, because what is frequent in all may be less so in one. */
const BEYOND = 5

export const TOPS: Share<TopsQuestion, Tops> = {
  name: 'tops',
  own: ({ limits, now, hours }, { history }) =>
    Object.fromEntries(
      Object.entries(limits).map(([subject, limit]) => [
        subject,
        history.top(subject as Subject, now, hours, limit * BEYOND),
      ]),
    ),
}

/** The most frequent values of all processes. */
export async function topsOf(gather: Gather, question: TopsQuestion): Promise<Tops> {
  const { shares } = await gather(TOPS, question)
  return Object.fromEntries(
    Object.entries(question.limits).map(([subject, limit]) => [
      subject,
      mergeTops(
        shares.map((share) => share[subject as Subject] ?? []),
        limit,
      ),
    ]),
  )
}
