export { makeFolder } from './make-folder.ts'
export { linkFault, nearest, placeFault } from './place.ts'
export { readFault, readWhole } from './read-whole.ts'
export { writeThrough } from './write-through.ts'
