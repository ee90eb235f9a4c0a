import t from 'tap'
import { openVisit, type VisitRequest } from '../src/testing/recorded-visit.ts'

const PAGE = { status: 200, contentType: 'text/html; charset=utf-8', host: 'a.example' } as const
const FILE = { status: 200, contentType: 'text/css', host: 'a.example' } as const
const START = Date.parse('2026-11-21T12:00:00Z')

/** Makes the visit of a person, who reads pages at human pace with their files, cookies and links. */
function person(pages: number): readonly VisitRequest[] {
  return Array.from({ length: pages }, (_, page): readonly VisitRequest[] => {
    const at = START + page * 20_000 + ((page * 7_919) % 13) * 5_000 * (page % 3)
    const cookie = page === 0 ? {} : { cookie: 'sid=1', referer: 'https://a.example/before' }
    return [
      { ...PAGE, ...cookie, at, target: `/p/${page % 30}`, setCookies: ['sid=1; Path=/'] },
      { ...FILE, ...cookie, at: at + 200, target: `/p/${page}.css` },
      { ...FILE, ...cookie, at: at + 250, target: '/all.js', isConditional: page > 0, status: page > 0 ? 304 : 200 },
    ]
  }).flat()
}

function loop(pages: number, everyMs: number, more: Partial<VisitRequest> = {}): readonly VisitRequest[] {
  const makePage = (page: number) => ({ ...PAGE, at: START + page * everyMs, target: `/p/${page}`, ...more })
  return Array.from({ length: pages }, (_, page) => makePage(page))
}

function judgeVisit(requests: readonly VisitRequest[]) {
  const visit = openVisit()
  for (const request of requests) visit.add(request)
  return visit.judge()
}

t.test('a person shows no sign against a person', async (t) => {
  for (const pages of [1, 5, 20, 100]) {
    const { signs, weight } = judgeVisit(person(pages))
    t.equal(weight, 0, `${pages} pages: ${signs}`)
  }
})

t.test('pages without files are a sign from ten pages on, and enough to challenge from twenty', async (t) => {
  t.same(judgeVisit(loop(9, 6_000)).signs, [])
  t.match(judgeVisit(loop(10, 6_000)), { pages: 10, signs: ['pages-without-files', 'first-visit-without-files'] })
  t.ok(judgeVisit(loop(10, 6_000, { cookie: 'sid=1', referer: 'https://a.example/' })).weight < 4, 'a warm cache')
  const returning = { setCookies: ['sid=1'], cookie: 'sid=1', referer: 'https://a.example/' }
  t.ok(judgeVisit(loop(10, 6_000, returning)).weight < 4)
  t.ok(judgeVisit(loop(20, 6_000)).weight >= 4)
})

t.test('several people behind one address are not one who reads much, fast and evenly', async (t) => {
  // Each person of an office begins without a cookie; all read the same pages' neighbours, one page a second.
  const office = (people: number) =>
    loop(80, 1_000, { setCookies: ['sid=1; Path=/'] }).map((request, page) => ({
      ...request,
      ...(page % (80 / people) !== 0 && { cookie: 'sid=1', referer: 'https://a.example/' }),
    }))
  const ofOne = ['breadth', 'relentless', 'even-gaps']
  const spoken = (people: number) => judgeVisit(office(people)).signs.filter((id) => ofOne.includes(id))
  t.same(spoken(1), ofOne)
  t.same(spoken(2), ofOne, 'one more may be a private window')
  t.same(spoken(4), [])
  t.same(spoken(40), [])
})

t.test('pages in parallel are a sign for one client that reads many, not for tabs opened together', async (t) => {
  const parallel = { milliseconds: 100, cookie: 'sid=1', referer: 'https://a.example/' }
  const shows = (pages: number, everyMs: number, milliseconds = 100) =>
    judgeVisit(loop(pages, everyMs, { ...parallel, milliseconds })).signs.includes('parallel-pages')
  t.equal(shows(80, 50), true)
  t.equal(shows(80, 150), false, 'one after the other')
  t.equal(shows(80, 1, 1.9), false, 'one after the other, for all that a clock of whole milliseconds tells')
  t.equal(shows(40, 50), false, 'forty tabs')
  const tabs = [...person(60), ...loop(30, 10, { ...parallel, at: START + 2e6 })]
  t.notOk(judgeVisit(tabs).signs.includes('parallel-pages'), 'tabs in a long visit')
})

t.test('requests for addresses that do not exist are a sign where people find what they request', async (t) => {
  const missing = (count: number, status = 404) =>
    Array.from({ length: count }, (_, place) => ({ ...PAGE, at: START + place, target: `/old/${place}`, status }))
  const judge = (requests: readonly VisitRequest[], finding: number) => {
    const visit = openVisit({ host: '', visits: 10, having: [10, 10, 10, 10, 10, finding, 10, 10, 10] })
    for (const request of requests) visit.add(request)
    return visit.judge().signs.includes('guesses-addresses')
  }
  const [few, many] = [missing(19), missing(20)]
  t.equal(judge([...many, ...person(3)], 10), true)
  t.equal(judge(many, 10), true, 'who finds no page at all')
  t.equal(judge([...many, ...person(3)], 7), false, 'the site has dead links')
  t.equal(judge([...few, ...person(3)], 10), false, 'few')
  t.equal(judge([...many, ...person(7)], 10), false, 'most addresses exist')
  t.equal(judge([...missing(40, 500), ...person(3)], 10), false, 'the site failed')
})

t.test('pages that load fragments in parallel and again every second show what people do there', async (t) => {
  const signs = ['relentless', 'even-gaps', 'parallel-pages']
  const robot = loop(80, 1_000, { milliseconds: 1_100, cookie: 'sid=1', referer: 'https://a.example/' })
  const judge = (taking: number, pausing: number, varying: number) => {
    const visit = openVisit({ host: '', visits: 10, having: [10, 10, 10, 10, 10, 10, taking, pausing, varying] })
    for (const request of robot) visit.add(request)
    return visit.judge().signs.filter((id) => signs.includes(id))
  }
  t.same(judge(10, 10, 10), signs)
  t.same(judge(10, 7, 7), ['parallel-pages'])
  t.same(judge(7, 7, 7), [])
})
