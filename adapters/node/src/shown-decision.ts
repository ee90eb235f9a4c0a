import { IncomingMessage } from 'node:http'
import { decisionOn } from './observation.ts'

/**
 * Returns what shows the decision about a request of Express as its `sallyport`. Each has a hidden class of its own there, and a
 * member more is a copy of that, after which every member is looked up again. So the prototype that Express keeps for
 * what all requests have is given an accessor, at the first request.
 */
export function createShown(): (req: IncomingMessage) => void {
  let shown: object | null | undefined
  return (req) => {
    const own: object | null = Object.getPrototypeOf(req)
    if (own === shown) return
    const all = ofExpress(own)
    if (all === undefined) (req as { sallyport?: unknown }).sallyport = decisionOn(req)
    else shown = own
    if (all !== undefined && !Object.hasOwn(all, 'sallyport')) Object.defineProperty(all, 'sallyport', SHOWN)
  }
}

/** Below that of an application, and above Node's own; `undefined` for a request that is none of Express. */
function ofExpress(prototype: object | null): object | undefined {
  for (let at = prototype; at !== null; ) {
    const next: object | null = Object.getPrototypeOf(at)
    if (next === IncomingMessage.prototype) return at
    at = next
  }
  return undefined
}

const SHOWN: PropertyDescriptor & ThisType<IncomingMessage> = {
  configurable: true,
  get() {
    return decisionOn(this)
  },
  // An application may write one of its own.
  set(value: unknown) {
    Object.defineProperty(this, 'sallyport', { value, configurable: true, enumerable: true, writable: true })
  },
}
