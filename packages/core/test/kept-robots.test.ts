import t from 'tap'
import { KeptRobots } from '../src/robots/kept-robots.ts'

t.test('the last good one is kept, and it is asked for again after its time', async (t) => {
  let now = Date.parse('2026-11-21T12:00:00Z')
  let answer: () => Promise<string> = async () => 'User-agent: *\nDisallow: /a'
  let asked = 0
  const said: string[] = []
  const robots = new KeptRobots({
    id: 'robots:a.example',
    title: 'robots.txt of a.example',
    every: 3_600_000,
    ask: () => {
      asked++
      return answer()
    },
    now: () => now,
    onTurned: (message) => void said.push(message),
  })
  const refuses = () => robots.refuses('x', '/a')
  t.match(robots.status, { state: 'absent', reason: undefined, checked: undefined })

  answer = () => Promise.reject(new Error('has the status 503'))
  t.equal(refuses(), undefined)
  t.equal(refuses(), undefined)
  await robots.read()
  t.equal(asked, 1, 'once at a time')
  t.match(robots.status, { state: 'absent', reason: 'has the status 503' })
  t.equal(refuses(), undefined)
  t.equal(asked, 1, 'not again at once')

  answer = async () => 'User-agent: *\nDisallow: /a'
  now += 60_000
  t.equal(refuses(), undefined, 'nobody waits for it')
  await robots.read()
  t.equal(refuses(), true)
  t.match(robots.status, { id: 'robots:a.example', state: 'loaded', entries: 1, checked: '2026-11-21T12:01:00.000Z' })

  now += 3_599_999
  refuses()
  t.equal(asked, 2)
  answer = () => Promise.reject(new Error('has the status 500'))
  now += 1
  t.equal(refuses(), true)
  await robots.read()
  t.equal(refuses(), true, 'the last good one')
  t.match(robots.status, { state: 'loaded', error: 'has the status 500', checked: '2026-11-21T12:01:00.000Z' })

  answer = async () => ''
  now += 60_000
  refuses()
  await robots.read()
  t.equal(refuses(), false)
  t.same(said, [
    'robots.txt of a.example has the status 503: rules with match.robots ignore it.',
    'robots.txt of a.example can be read again.',
    'robots.txt of a.example has the status 500: the last copy stays in use.',
    'robots.txt of a.example can be read again.',
  ])
})
