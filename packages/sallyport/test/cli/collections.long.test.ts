import t, { type Test } from 'tap'
import { LOOPBACK, start, workspace } from './command.ts'

const HAS_FLAG = Number.parseInt(process.versions.node, 10) >= 22

/** Starts a proxy with flags that make V8 report its collections. */
function startTraced(t: Test, flags: string) {
  const { config } = workspace(t)
  return start(t, ['proxy', '--config', config, ...LOOPBACK], {}, {}, ['sh', '-c', `exec "$0" ${flags} "$@"`])
}

t.test('the whole heap is collected when old objects have doubled', async (t) => {
  const proxy = startTraced(t, '--trace-gc-verbose')
  await proxy.says('Listening on')
  const limits = [...proxy.out().matchAll(/\[HeapController\] Limit: old size: (\d+) KB, new limit: (\d+) KB/g)]
  const [, old, limit] = limits.at(-1)?.map(Number) ?? []
  t.ok(Number(limit) < Number(old) * 3.5, 'the limit leaves room for as many old objects and the new ones', {
    old,
    limit,
  })
})

const skip = HAS_FLAG ? false : 'V8 of Node 20 has no flag for it'
t.test('an idle process is not collected', { skip }, async (t) => {
  const proxy = startTraced(t, '--trace-memory-reducer')
  await proxy.says('Memory reducer: ')
  await proxy.stop()
  t.notMatch(proxy.out(), /Memory reducer: (?:waiting|started)/)
})
