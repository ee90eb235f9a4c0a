import { PRESET_NAMES } from '@sallyport/core'
import t from 'tap'
import { decideVisitor, VISITORS } from './visitors.ts'

const ACTIONS = ['allow', 'flag', 'challenge', 'throttle', 'block']

t.test('a worse copy never may more than a better one, from any network, with cookies or without', async (t) => {
  const worse = [
    ['a browser, or all headers of one', 'a copied user agent only'],
    ['a browser, or all headers of one', 'no user agent'],
    ['a browser, or all headers of one', 'a headless browser'],
  ] as const
  for (const preset of PRESET_NAMES) {
    for (const place of ['home', 'VPN', 'hosting'] as const) {
      const strictness = (visitor: string) => ACTIONS.indexOf(decideVisitor(preset, VISITORS[visitor] ?? {}, place))
      for (const [one, other] of worse) t.ok(strictness(other) >= strictness(one), `${preset}, ${place}: ${other}`)
      for (const [visitor, headers] of Object.entries(VISITORS)) {
        const withCookie = decideVisitor(preset, { ...headers, Cookie: 'session=1' }, place)
        t.equal(withCookie, decideVisitor(preset, headers, place), `${preset}, ${place}: ${visitor} with cookies`)
      }
    }
  }
})

t.test('copies and clients without a name are challenged where a whole browser is', async (t) => {
  for (const visitor of ['a copied user agent only', 'no user agent']) {
    for (const preset of ['protect-content', 'stop-scrapers', 'under-attack', 'jurisdiction-strict'] as const) {
      t.equal(decideVisitor(preset, VISITORS[visitor] ?? {}, 'hosting'), 'challenge', `${preset}: ${visitor}`)
    }
    t.equal(decideVisitor('low-friction', VISITORS[visitor] ?? {}, 'hosting'), 'flag', visitor)
  }
})
