import t from 'tap'
import { checkHost } from './check-host.ts'
import { HOSTS } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { madeScene } from './scene.ts'
import type { WireResponse } from './wire.ts'

/*
 * One table, every host: a visitor must not be able to tell by the answer which framework Sallyport stands in, and the
 * site must get the same. Each host is held to the table, and to the bytes of the first host.
 */
for (const base of ['', '/detect']) {
  t.test(`mounted ${base === '' ? 'at the root' : `under ${base}`}`, async (t) => {
    const expected = new Map<string, WireResponse>()
    for (const host of [...HOSTS, ...MORE_HOSTS]) {
      await t.test(host.name, (t) => checkHost(t, host, madeScene(), base, expected))
    }
  })
}
