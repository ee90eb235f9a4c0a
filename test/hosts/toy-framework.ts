import type { IncomingMessage, ServerResponse } from 'node:http'

/** A request in the made framework: steps share it, each goes on by `next`, and an answer is whatever one of them sends. */
export interface Visit {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly shared: Map<string, unknown>
}

export type Step = (visit: Visit, next: () => Promise<void>) => void | Promise<void>

/** Runs steps in their order, as `createServer` takes it. */
export function toy(...steps: readonly Step[]): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const visit: Visit = { req, res, shared: new Map() }
    const run = async (at: number): Promise<void> => steps[at]?.(visit, () => run(at + 1))
    run(0).catch(() => res.destroy())
  }
}
