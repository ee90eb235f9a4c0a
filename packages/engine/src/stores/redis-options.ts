/** In a file of its own: the types that customers compile against name no driver, which they need not have. */
export interface RedisOptions {
  /** How often the server is asked whether it is there, in milliseconds; default 1000. */
  readonly pingMs?: number | undefined
}
