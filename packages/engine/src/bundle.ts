/* The bundle as runtimes without files and without Node read it: nothing else of the engine is loaded with it. */

export { readBundle } from './datasets/bundle/read-bundle.ts'
