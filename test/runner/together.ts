import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * Test files in one process: nothing in them shares state, so none needs a process of its own. tap names the folders of a test after
 * the program and its arguments; here they are one short name, given first.
 */
const [, name = '', ...files] = process.argv.splice(1)
process.argv.push(name)
// Loaded now: it reads the name at once.
const { default: t } = await import('tap')
// tap does what was asked for first: without this it would remove the folder of a test before its teardown closes what writes there.
t.beforeEach((t) => t.teardown(() => {}))
process.once('exit', () => process.stdout.write(`# peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB\n`))
// The first teardown of all has tap end whenever nothing waits, as while a file starts a server before its first test.
const held: (() => unknown)[] = []
const { teardown } = t
Object.assign(t, { teardown: (work: () => unknown) => void held.push(work) })
for (const file of files) await import(pathToFileURL(resolve(file)).href)
Object.assign(t, { teardown })
for (const work of held) t.teardown(work)
// tap looks again, for it may be that all tests have ended.
await t.waitOn(Promise.resolve())
