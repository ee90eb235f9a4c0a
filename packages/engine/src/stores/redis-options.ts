/** In a file of its own: the types that customers compile against name no driver, which they need not have. */
export interface RedisOptions {
  /** How often a ping checks the server, in milliseconds; default 1000. */
  readonly pingMs?: number | undefined
}
