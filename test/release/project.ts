import { resolve } from 'node:path'
import { writeLockedProject } from './locked.ts'

/* `node test/dist/release/project.js FOLDER`: what npm's bill of materials is made of. */
writeLockedProject(resolve(process.argv[2] ?? ''))
