import t from 'tap'
import { checkHost } from './check-host.ts'
import { HOSTS } from './hosts.ts'
import { openRealScene } from './real-scene.ts'
import { madeScene, type Scene } from './scene.ts'
import type { WireResponse } from './wire.ts'

/*
 * One table, every host: a visitor must not be able to tell by the answer which framework Sallyport stands in, and the
 * site must get the same. Each host is held to the table, and to the bytes of the first host.
 */
const BASES = ['', '/detect']

const SCENES: Readonly<Record<string, () => Promise<Scene>>> = {
  'a made scene': async () => madeScene(),
  'the embedded data': openRealScene,
}

for (const [name, openScene] of Object.entries(SCENES)) {
  for (const base of BASES) {
    t.test(`${name}, mounted ${base === '' ? 'at the root' : `under ${base}`}`, async (t) => {
      const scene = await openScene()
      t.teardown(() => scene.close())
      const expected = new Map<string, WireResponse>()
      for (const host of HOSTS) await t.test(host.name, (t) => checkHost(t, host, scene, base, expected))
    })
  }
}
