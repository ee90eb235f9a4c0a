/* A part of its own: only its types name @redis/client, which not every installation has. */
export { openRedis } from '../redis-connection.ts'
