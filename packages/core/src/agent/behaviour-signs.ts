/**
 * Lists the signs of a client's behaviour in a visit, each a bit of a number by its place in this list. They belong to the table of
 * evidence (`signals.ts`); `behaviour/signs.ts` decides when a visit of `pages` pages or more shows a sign. Weights are natural log-odds;
 * below zero a sign supports a person.
 */
export const BEHAVIOUR_SIGNS = [
  { id: 'pages-without-files', pages: 10, weight: 3, text: 'The client read ten pages and loaded no file.' },
  { id: 'long-without-files', pages: 20, weight: 1.5, text: 'The client read twenty pages and loaded no file.' },
  { id: 'first-visit-without-files', pages: 10, weight: 1.5, text: 'A new client read ten pages and loaded no file.' },
  { id: 'cookies-never-returned', pages: 6, weight: 2.5, text: 'The client never returned the cookies of the site.' },
  { id: 'referrers-never-fit', pages: 10, weight: 1.5, text: 'No page request came from another page of the site.' },
  { id: 'reloads-files', pages: 8, weight: 2.5, text: 'The client loaded the same files again, which browsers cache.' },
  { id: 'breadth', pages: 60, weight: 2, text: 'The client read sixty pages, and hardly one of them twice.' },
  { id: 'relentless', pages: 60, weight: 1.5, text: 'The client read sixty pages, one every three seconds or faster.' },
  { id: 'even-gaps', pages: 30, weight: 2, text: 'The times between pages are as even as a clock.' },
  { id: 'parallel-pages', pages: 60, weight: 1.5, text: 'The client requested sixty pages in parallel.' },
  { id: 'guesses-addresses', pages: 0, weight: 2, text: 'Half of the requested addresses do not exist.' },
  { id: 'returns-cookies', pages: 2, weight: -0.5, text: 'The client returned cookies of the site.' },
  { id: 'referrers-fit', pages: 2, weight: -0.5, text: 'The client followed links of the site.' },
  { id: 'revalidates', pages: 2, weight: -0.5, text: 'The client revalidated its cached copies.' },
] as const

export type BehaviourSignId = (typeof BEHAVIOUR_SIGNS)[number]['id']

/** Lists the signs whose bits are set. */
export function listSigns(bits: number): readonly (typeof BEHAVIOUR_SIGNS)[number][] {
  return BEHAVIOUR_SIGNS.filter((_, place) => (bits & (1 << place)) !== 0)
}

/** Adds up the weights of signs. Support reduces behaviour alone: the sum never falls below zero. */
export function weighBehaviour(bits: number): number {
  const sum = listSigns(bits).reduce((total, { weight }) => total + weight, 0)
  return Math.max(0, sum)
}
