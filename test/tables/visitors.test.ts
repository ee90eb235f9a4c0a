import { PRESET_NAMES } from '@sallyport/core'
import t from 'tap'
import { decideVisitor, VISITORS } from './visitors.ts'

const ACTIONS = ['allow', 'flag', 'challenge', 'throttle', 'block']

t.test('a worse copy never may more than a better one, from any network, with cookies or without', async (t) => {
  const whole = 'a browser, or all headers of one'
  for (const preset of PRESET_NAMES) {
    for (const place of ['home', 'VPN', 'hosting'] as const) {
      const strictness = (visitor: string) => ACTIONS.indexOf(decideVisitor(preset, VISITORS[visitor] ?? {}, place))
      for (const worse of ['a copied user agent only', 'no user agent', 'a headless browser'])
        t.ok(strictness(worse) >= strictness(whole), `${preset}, ${place}: ${worse}`)
      for (const [visitor, headers] of Object.entries(VISITORS)) {
        const withCookie = decideVisitor(preset, { ...headers, Cookie: 'session=1' }, place)
        t.equal(withCookie, decideVisitor(preset, headers, place), `${preset}, ${place}: ${visitor} with cookies`)
      }
    }
  }
})
