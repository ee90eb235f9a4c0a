import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sketchOf } from './rooms.ts'
import { ROOT } from './workspaces.ts'

/* Draws the house in CONTRIBUTING from the imports: `npx tsc -b && node test/dist/write-sketch.js`. */
const FILE = join(ROOT, '.github/CONTRIBUTING.md')
const text = readFileSync(FILE, 'utf8')
writeFileSync(
  FILE,
  text.replace(/(<!-- sketch -->\n```\n)[\s\S]*?(\n```)/, (_, before, after) => before + sketchOf() + after),
)
