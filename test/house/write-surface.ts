import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicNames } from './surface.ts'

/* After a deliberate change of what a package exports. */
writeFileSync(join(import.meta.dirname, '../../test/surface.txt'), publicNames())
