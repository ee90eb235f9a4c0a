import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'

/*
 * Every workspace's tests, each in a process of its own, three at a time: what `npm test` runs.
 * The runner loads a module into each process and thread that a test starts, to learn what it covered. Nobody reads
 * that here, and it takes as long again as the tests do: NODE_OPTIONS, which hands it on, is taken away.
 */
const ROOT = join(import.meta.dirname, '../..')

/** The longest rooms begin first, so that it does not end alone; the proxy's tests wait more than they work. */
const FIRST = ['test', 'adapters/proxy', 'packages/open', 'packages/stores', 'packages/cli']

const workspaces = ['packages', 'adapters'].flatMap((floor) =>
  readdirSync(join(ROOT, floor)).map((name) => join(floor, name)),
)

const MAX_SECONDS = 900
const env = { ...process.env, TAP_TIMEOUT: String(MAX_SECONDS) }
t.setTimeout(MAX_SECONDS * 1_000)
t.jobs = 3
for (const workspace of new Set([...FIRST, ...workspaces, 'bench'])) {
  const file = join(ROOT, workspace, workspace === 'test' ? 'dist/run.js' : 'dist/test/run.js')
  // A folder that holds no tests yet, or no longer.
  if (!existsSync(file)) continue
  const argv = ['-u', 'NODE_OPTIONS', process.execPath, relative(ROOT, file)]
  t.spawn('env', argv, { cwd: ROOT, env, buffered: true, timeout: MAX_SECONDS * 1_000 }, workspace)
}
