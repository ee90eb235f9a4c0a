import { listsFolder } from './lists.ts'
import { refreshLists } from './refresh-lists.ts'

/* `npm run data:refresh`: fetches the lists that come with a release, to be committed. Fails where none could be had. */

const { fetched, missing } = await refreshLists(listsFolder())
for (const { id, reason } of missing) process.stderr.write(`${id}: ${reason}\n`)
process.stdout.write(`${fetched.length} lists were fetched; ${missing.length} could not be had and stay as they are.\n`)
if (fetched.length === 0) process.exitCode = 1
