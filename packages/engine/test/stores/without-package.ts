/* Hides both SQLites from a process that is started with it: the package is as absent as where npm has not installed it. */
const HOOK = `export function resolve(name, context, next) {
  if (name !== '@photostructure/sqlite') return next(name, context)
  throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: 'ERR_MODULE_NOT_FOUND' })
}`
const asUrl = (module: string) => `data:text/javascript,${encodeURIComponent(module)}`

const WITHOUT_PACKAGE = importing(`import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOK))})`)

/** The arguments of Node with which no SQLite is found, in whichever version. */
export const WITHOUT_SQLITE: readonly string[] = [
  ...WITHOUT_PACKAGE,
  ...importing("Object.defineProperty(process, 'versions', { value: { ...process.versions, sqlite: undefined } })"),
]

function importing(module: string): readonly string[] {
  return ['--import', asUrl(module)]
}
