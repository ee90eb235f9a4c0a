import { SallyportError } from '@sallyport/core'
import type { ValuePlace } from './layers.ts'

/** A fault, or a likely mistake, in a configuration. */
export interface ConfigFault {
  /** Absent where it is in no file, variable or flag. */
  readonly place?: ValuePlace | undefined
  /** The path of the key, joined by dots. */
  readonly key?: string | undefined
  /** The id of the rule. */
  readonly rule?: string | undefined
  /** The expected value, with the nearest known word. */
  readonly message: string
}

/**
 * `invalid_config` with every fault, one a line, in the order of the file. `open()` rejects with it.
 *
 * @example
 * ```ts
 * import { ConfigError, open } from 'sallyport'
 *
 * try {
 *   await open({ listen: 'nowhere' })
 * } catch (error) {
 *   if (!(error instanceof ConfigError)) throw error
 *   for (const { key, message } of error.faults) console.error(key, message)
 * }
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/routes.md#error-codes
 */
export class ConfigError extends SallyportError {
  readonly faults: readonly ConfigFault[]

  constructor(found: readonly ConfigFault[]) {
    const faults = found.toSorted((one, other) => (one.place?.line ?? 0) - (other.place?.line ?? 0))
    super('invalid_config', faults.map(faultText).join('\n'))
    this.faults = faults
  }
}

/** `sallyport.yaml:12: policy.rules.0.match.country.0: rule "home": "UK" is unknown; did you mean "GB"?` */
export function faultText({ place, key, rule, message }: ConfigFault): string {
  const about = [place?.text ?? 'configuration', key, rule === undefined ? undefined : `rule "${rule}"`]
  return [...about.filter((part) => part !== undefined), message].join(': ')
}
