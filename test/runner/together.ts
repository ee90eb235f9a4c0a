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
for (const file of files) await import(pathToFileURL(resolve(file)).href)
