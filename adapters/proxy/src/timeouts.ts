/** In milliseconds. */
export interface Timeouts {
  /** For a connection to the origin. */
  readonly connect: number
  /** For the head of the origin's answer, to a request or to a handshake. */
  readonly headers: number
  /** Between two pieces of the body of an answer. */
  readonly body: number
  /** For a client that does not read its answer. */
  readonly unread: number
  /** For a tunnel without traffic. */
  readonly tunnelIdle: number
}

export const TIMEOUTS: Timeouts = {
  connect: 2_000,
  headers: 30_000,
  body: 30_000,
  unread: 30_000,
  tunnelIdle: 300_000,
}
