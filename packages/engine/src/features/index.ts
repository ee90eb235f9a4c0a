/* The features of the service, one line each: see `Feature` in `#service`. */

export * as anchors from './anchors/index.ts'
export * as bans from './bans/index.ts'
export * as behaviour from './behaviour/index.ts'
export * as crawls from './crawls/index.ts'
export * as lists from './lists/index.ts'
export * as logins from './logins/index.ts'
export * as notify from './notify/index.ts'
export * as payments from './payments/index.ts'
export * as privacy from './privacy/index.ts'
export * as report from './report/index.ts'
export * as robots from './robots/index.ts'
