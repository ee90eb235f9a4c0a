import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * Test files in one process: nothing in them shares state, so none needs a process of its own. tap names the folders of a test after
 * the program and its arguments; here they are one short name, given first.
 */
const [, name = '', ...files] = process.argv.splice(1)
process.argv.push(name)
process.once('exit', () => process.stdout.write(`# peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB\n`))
for (const file of files) await import(pathToFileURL(resolve(file)).href)
