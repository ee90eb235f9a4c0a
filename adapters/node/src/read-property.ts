/**
 * Whether objects stay alike to the engine after each was given a prototype anew, as Express gives every request and
 * response: since V8 13, which is Node 24. Their properties are then read as any other.
 */
export const CLASSES_SHARED = Number.parseInt(process.versions.v8, 10) >= 13

/**
 * A property of an object the like of which the engine has not met. Express gives every request and response a prototype
 * anew, and up to Node 22 the property that it adds next gives each a hidden class of its own: `object.name` then goes
 * into the runtime each time and rewrites the compiler's notes, at some 3,000 instructions. By a name that varies it is
 * looked up in place, at a tenth of that.
 */
export function readProperty<Of extends object, Name extends keyof Of>(object: Of, name: Name): Of[Name] {
  return object[name]
}
