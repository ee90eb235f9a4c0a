/** How long the other sides are waited for, in milliseconds. */
export interface Timeouts {
  /** For a connection to the origin. */
  readonly connect: number
  /** For the head of the origin's answer, to a request or to a handshake. */
  readonly headers: number
  /** Between two pieces of the body of an answer. */
  readonly body: number
  /** How long a client may leave an answer unread. */
  readonly unread: number
  /** How long a tunnel may carry nothing. */
  readonly tunnelIdle: number
}

export const TIMEOUTS: Timeouts = {
  connect: 2_000,
  headers: 30_000,
  body: 30_000,
  unread: 30_000,
  tunnelIdle: 300_000,
}
