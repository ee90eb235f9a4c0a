import { IncomingMessage } from 'node:http'
import { decisionOn } from './observation.ts'

/**
 * Returns a function that shows the decision about a request of Express as its `sallyport`. Each request has a hidden class there, which
 * one more member would copy, and every member would be looked up again. So the first request adds an accessor to the prototype that all
 * requests of Express share.
 */
export function createShown(): (req: IncomingMessage) => void {
  let shown: object | null | undefined
  return (req) => {
    const own: object | null = Object.getPrototypeOf(req)
    if (own === shown) return
    const all = findPrototype(own)
    if (all === undefined) (req as { sallyport?: unknown }).sallyport = decisionOn(req)
    else shown = own
    if (all !== undefined && !Object.hasOwn(all, 'sallyport')) Object.defineProperty(all, 'sallyport', SHOWN)
  }
}

/** Finds the prototype that Express derives from Node's own; `undefined` for a request outside Express. */
function findPrototype(prototype: object | null): object | undefined {
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
  // An application may write a value of its own.
  set(value: unknown) {
    Object.defineProperty(this, 'sallyport', { value, configurable: true, enumerable: true, writable: true })
  },
}
