/* The features of the service, one line each: see `Feature` in `#service`. */

export * as bans from './bans/index.ts'
export * as lists from './lists/index.ts'
export * as notify from './notify/index.ts'
export * as privacy from './privacy/index.ts'
export * as report from './report/index.ts'
export * as robots from './robots/index.ts'
