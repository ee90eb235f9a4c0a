import { parseTrust } from '@sallyport/core'
import { createFakeNetworks, makeSnapshots, makeSystem } from '@sallyport/core/testing'
import t from 'tap'
import { makeInspector } from '../inspector.ts'
import { startHost } from './every-host.ts'
import { HOSTS } from './hosts.ts'
import { madeScene } from './scene.ts'
import { askAs } from './wire.ts'

/* A proxy in front ends TLS and says what it measured; a client that connects to us can write the same header. */
const CHROMIUM = 't13d1516h2_8daaf6152771_02713d6af862'
const PROGRAM = 't13d1812h1_85036bcba153_d41ae481755e'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0'

const HOME = { system: makeSystem({ asn: 64_501, name: 'Home', type: 'isp', networkClass: 'residential_clean' }) }

/** A host that refuses programs by their TLS, and browsers whose TLS is another's. */
function hostTrusting(trustProxy: readonly string[]) {
  const snapshots = makeSnapshots({ networks: createFakeNetworks([['8.0.0.0/8', HOME]]), rangesLoaded: true })
  const rules = [
    { id: 'no-programs', match: { ja4: ['program'] }, action: 'block' },
    { id: 'no-copies', match: { basis: ['contradiction'] }, action: 'block' },
  ] as const
  const trust = parseTrust(trustProxy, { ja4Header: 'CF-JA4' })
  return { ...madeScene().enforcing, ...makeInspector({ preset: 'observe', rules }, { snapshots, trust }) }
}

for (const host of HOSTS) {
  t.test(`${host.name}: the JA4 is the one that a trusted proxy names`, async (t) => {
    for (const [trust, expected] of [
      [['loopback'], 403],
      [[], 200],
    ] as const) {
      const site = await startHost(t, host, hostTrusting(trust))
      const ask = async (agent: string, ...named: readonly string[]) =>
        (await askAs(site, '8.9.9.9', '/', ['X-Forwarded-Proto', 'https', 'User-Agent', agent, ...named])).status
      const who = trust.length === 0 ? 'from anybody' : 'from a trusted proxy'
      t.equal(await ask('curl/8.5.0', 'cf-ja4', PROGRAM), expected, `a program's ${who}`)
      t.equal(await ask(FIREFOX, 'Cf-Ja4', CHROMIUM), expected, `another browser's ${who}`)
      t.equal(await ask('curl/8.5.0'), 200, 'none is named')
      for (const malformed of ['', 'x', `${PROGRAM},${PROGRAM}`, `${PROGRAM}x`, PROGRAM.toUpperCase(), '\u00e9'])
        t.equal(await ask(FIREFOX, 'cf-ja4', malformed), 200, `malformed accuses nobody: ${malformed}`)
      for (const second of [CHROMIUM, PROGRAM])
        t.equal(await ask(FIREFOX, 'cf-ja4', PROGRAM, 'CF-JA4', second), 200, 'of two nothing says which is true')
    }
  })
}
