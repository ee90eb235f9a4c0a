import { formatDay } from '../src/datasets/format/days.ts'
import { shippedFolder } from '../src/datasets/sources/shipped.ts'
import { listsFolder } from './lists.ts'
import { packSnapshot } from './pack-snapshot.ts'

/* Packs what comes with a release, offline, and says its days. A clone has the same; where nothing has changed it stays as it is. */

const { sources, wasThere } = await packSnapshot(shippedFolder(), listsFolder())
if (!wasThere) for (const { id, made } of sources) process.stdout.write(`${id} ${formatDay(made)}\n`)
