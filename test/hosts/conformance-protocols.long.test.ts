import t, { type Test } from 'tap'
import { checkHost } from './check-host.ts'
import { HOSTS, speaks } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { CLEAR_HTTP2, NO_OPENSSL, type Protocol, protocolsOverTls } from './protocols.ts'
import { madeScene } from './scene.ts'
import type { WireResponse } from './wire.ts'

/* The conformance table over TLS and HTTP/2, for every host that has them: held to the bytes of node:http over HTTP/1.1 in the clear. */
const scene = madeScene()
const ALL = [...HOSTS, ...MORE_HOSTS]

for (const base of ['', '/detect']) {
  t.test(`mounted ${base === '' ? 'at the root' : `under ${base}`}`, async (t) => {
    const expected = new Map<string, WireResponse>()
    const [first] = HOSTS
    if (first !== undefined) await t.test(first.name, (t) => checkHost(t, first, scene, base, expected))
    const check = async (t: Test, over: Protocol) => {
      const hosts = ALL.filter((host) => speaks(host, over))
      t.not(hosts.length, 0)
      for (const host of hosts) await t.test(host.name, (t) => checkHost(t, host, scene, base, expected, over))
    }
    await t.test(CLEAR_HTTP2.name, (t) => check(t, CLEAR_HTTP2))
    await t.test('over TLS', { skip: NO_OPENSSL }, async (t) => {
      for (const over of protocolsOverTls(t)) await t.test(over.name, (t) => check(t, over))
    })
  })
}
