import type { Request } from 'express'

/** V8 13, which is Node 24, lets objects share a class by itself. */
const SHARED_BY_ITSELF = Number.parseInt(process.versions.v8, 10) >= 13

/**
 * Lets the requests of an application share a hidden class, as up to Node 22 they do not: Express sets a prototype
 * on each, and the property that it adds next leaves each with a class of its own. Whatever reads one by name afterwards,
 * here, in Express and in Node, misses its inline cache and goes into the runtime, at some 3,000 instructions. An object
 * that lost a property is kept as a dictionary, and dictionaries of one prototype have one class. The property, which
 * says nothing at a server, is put back as it was.
 */
export function shareHiddenClass(request: Request): void {
  if (SHARED_BY_ITSELF) return
  const { statusMessage } = request
  delete request.statusMessage
  request.statusMessage = statusMessage
}
