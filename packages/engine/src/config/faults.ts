import { SallyportError } from '@sallyport/core'
import type { ValuePlace } from './layers.ts'

/** Describes an error, or a likely mistake, in a configuration. */
export interface ConfigFault {
  /** Absent if the value is in no file, variable or flag. */
  readonly place?: ValuePlace | undefined
  /** Gives the path of the key, joined by dots. */
  readonly key?: string | undefined
  /** Gives the id of the rule that contains the fault. */
  readonly rule?: string | undefined
  /** States the expected value, with the nearest known word. */
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
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/api.md#error-codes
 */
export class ConfigError extends SallyportError {
  readonly faults: readonly ConfigFault[]

  constructor(found: readonly ConfigFault[]) {
    const faults = found.toSorted((one, other) => (one.place?.line ?? 0) - (other.place?.line ?? 0))
    super('invalid_config', faults.map(faultText).join('\n'))
    this.faults = faults
  }
}

/** Writes a fault as `sallyport.yaml:12: policy.rules.0.match.country.0: rule "home": "UK" is unknown; did you mean "GB"?` */
export function faultText({ place, key, rule, message }: ConfigFault): string {
  const about = [place?.text ?? 'configuration', key, rule === undefined ? undefined : `rule "${rule}"`]
  return [...about.filter((part) => part !== undefined), message].join(': ')
}
