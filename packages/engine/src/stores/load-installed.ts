import { SallyportError } from '@sallyport/core'

/**
 * Loads an optional package, which users install with the configuration that needs it. `load` is `() => import(name)`, with the name in
 * plain text, so that bundlers see it. Rejects with `package_missing` when it is not installed, for this `reason`.
 */
export async function loadInstalled<T>(
  name: string,
  load: () => Promise<T>,
  reason = `The configuration needs the package ${name}, which is not installed`,
): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw new SallyportError('package_missing', `${reason}: npm install ${name}`, { package: name })
  }
}

/** Reports whether the package is missing. A package that is there, and of which a part is missing, is another fault. */
function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    error.message.includes(`'${name}'`)
  )
}
