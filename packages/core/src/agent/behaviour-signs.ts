/**
 * Lists the signs of a client's behaviour in a visit, each a bit of a number by its place in this list. They belong to the table of
 * evidence (`signals.ts`); `behaviour/signs.ts` decides when a visit of `pages` pages or more shows a sign. Weights are natural log-odds;
 * below zero a sign supports a person.
 */
export const BEHAVIOUR_SIGNS = [
  {
    id: 'pages-without-files',
    pages: 10,
    weight: 3,
    text: 'Ten pages or more were read without a script, style, image or font of the site.',
  },
  {
    id: 'long-without-files',
    pages: 20,
    weight: 1.5,
    text: 'Twenty pages or more were read without a file of the site.',
  },
  {
    id: 'first-visit-without-files',
    pages: 10,
    weight: 1.5,
    text: 'A visitor without a cookie, whose cache is empty, read ten pages and loaded no file.',
  },
  {
    id: 'cookies-never-returned',
    pages: 6,
    weight: 2.5,
    text: 'The site set a cookie, and none came back with the next five pages.',
  },
  {
    id: 'referrers-never-fit',
    pages: 10,
    weight: 1.5,
    text: 'No page was asked for from another page of the site.',
  },
  {
    id: 'reloads-files',
    pages: 8,
    weight: 2.5,
    text: 'The same files were loaded whole again and again: a browser would have kept them.',
  },
  {
    id: 'breadth',
    pages: 60,
    weight: 2,
    text: 'Sixty pages or more were read, hardly one of them twice.',
  },
  {
    id: 'relentless',
    pages: 60,
    weight: 1.5,
    text: 'Sixty pages or more were read, one every three seconds or faster.',
  },
  {
    id: 'even-gaps',
    pages: 30,
    weight: 2,
    text: 'The times between pages are as even as a clock.',
  },
  {
    id: 'returns-cookies',
    pages: 2,
    weight: -0.5,
    text: 'The cookies of the site came back.',
  },
  {
    id: 'referrers-fit',
    pages: 2,
    weight: -0.5,
    text: 'Pages were asked for from other pages of the site.',
  },
  {
    id: 'revalidates',
    pages: 2,
    weight: -0.5,
    text: 'The client asked whether its copies are still good.',
  },
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
