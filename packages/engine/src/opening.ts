/* What an application needs to open a service: the rest of the engine is not loaded with it. */

export { ConfigError } from './config/faults.ts'
export { open } from './open/open.ts'
