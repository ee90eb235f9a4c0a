import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'
import { publicNames } from './surface.ts'

/* Run this after a deliberate change of what a package exports. */
writeFileSync(join(ROOT, 'test/house/surface.txt'), publicNames())
