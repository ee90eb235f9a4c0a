import t, { type Test } from 'tap'
import { LOOPBACK, start, until, workspace } from './command.ts'

const LINE = Number.parseInt(process.versions.node, 10)

/** V8 adds the room of new objects to the limit: 64 MB from Node 24 on, 16 MB before. */
const NEW_OBJECTS_KB = LINE >= 24 ? 70_000 : 20_000

/** Starts a proxy with flags that make V8 report its collections. */
function startTraced(t: Test, flags: string) {
  const { config } = workspace(t)
  return start(t, ['proxy', '--config', config, ...LOOPBACK], {}, {}, ['sh', '-c', `exec "$0" ${flags} "$@"`])
}

t.test('the whole heap is collected when old objects have doubled', async (t) => {
  // Many old objects, so that the new ones weigh little beside them, and collections that set the limit while the proxy serves.
  const script = 'globalThis.kept=Array.from({length:2e6},()=>({}));setInterval(gc,300).unref()'
  const collect = `--expose-gc --import 'data:text/javascript,${script}'`
  const proxy = startTraced(t, `--trace-gc-verbose ${collect}`)
  await proxy.says('Listening on')
  const listLimits = () => [
    ...proxy.out().matchAll(/\[HeapController\] Limit: old size: (\d+) KB, new limit: (\d+) KB/g),
  ]
  const before = listLimits().length
  await until(() => listLimits().length > before + 1)
  const [, old = 0, limit = 0] = listLimits().at(-1)?.map(Number) ?? []
  t.ok(limit >= old * 2 && limit < old * 2 + NEW_OBJECTS_KB, `${limit} KB for ${old} KB of old objects`)
})

const skip = LINE >= 22 ? false : 'V8 of Node 20 has no flag for it'
t.test('an idle process is not collected', { skip }, async (t) => {
  const proxy = startTraced(t, '--trace-memory-reducer')
  await proxy.says('Memory reducer: ')
  await proxy.stop()
  t.notMatch(proxy.out(), /Memory reducer: (?:waiting|started)/)
})
