import type { ConfigInput, OpenHooks, Sallyport } from '@sallyport/engine'

/**
 * Returns what `open()` of the package `sallyport` returns; the first call loads the engine. Rejects as that does: `invalid_config` and
 * `invalid_policy` name the key, `package_missing` the package to install.
 *
 * @example
 * ```ts
 * import { listener, open } from '@sallyport/node'
 * import { createServer } from 'node:http'
 *
 * const sallyport = await open({ policy: { preset: 'low-friction' } })
 * createServer(listener(sallyport, (_req, res) => void res.end('hello'))).listen(3000)
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/code.md#the-open-function
 */
export async function open(options?: ConfigInput, hooks?: OpenHooks): Promise<Sallyport> {
  return (await import('@sallyport/engine/open')).open(options, hooks)
}
