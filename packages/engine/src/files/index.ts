export { makeFolder } from './make-folder.ts'
export { nearest, placeFault } from './place.ts'
export { readWhole } from './read-whole.ts'
export { writeThrough } from './write-through.ts'
