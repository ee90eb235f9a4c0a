import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'
import { listWords } from './words.ts'

/* The command `npm run words` prints how many words each document has. */
for (const line of listWords((path) => readFileSync(join(ROOT, path), 'utf8'))) process.stdout.write(`${line}\n`)
