/** Starts private real servers for tests, of this room and others; a server never loads it. */
export { NO_POSTGRES, startPostgres, type TestPostgres } from './postgres.ts'
export { NO_REDIS, startRedis, type TestRedis } from './redis.ts'
export { type Cleanup, freePort, listening, NO_NEIGHBOURS, type TestServer } from './server.ts'
