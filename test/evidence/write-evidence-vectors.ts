import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'
import { madeEvidence } from './evidence-cases.ts'

/* After a deliberate change of the evidence's form, which needs a new version of its media type. */
const file = join(ROOT, 'test/evidence/evidence-vectors.json')
writeFileSync(file, `${JSON.stringify(await madeEvidence())}\n`)
