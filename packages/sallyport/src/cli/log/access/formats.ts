import { SallyportError } from '@sallyport/core'
import type { AccessFormat } from './format.ts'
import { type FieldNames, JSON_FORMATS, namedFormat, USUAL_NAMES } from './json-formats.ts'
import { TEXT_FORMATS } from './text-formats.ts'
import { W3C_FORMAT } from './w3c.ts'

/** Every format of access logs that is known, in the order in which a line is held against them. */
export const ACCESS_FORMATS: readonly AccessFormat[] = [...JSON_FORMATS, W3C_FORMAT, ...TEXT_FORMATS]

/**
 * The format of JSON that `--fields` describes: `ip=client.ip,target=url`, and the usual names beside. Throws `invalid_request` for a
 * name that is no field of a request.
 */
export function parseFields(text: string): AccessFormat {
  const given = text.split(',').map((part) => part.split('=', 2).map((word) => word.trim()))
  for (const [name = '', member = ''] of given) {
    if (!Object.hasOwn(USUAL_NAMES, name) || member === '')
      throw new SallyportError(
        'invalid_request',
        `--fields: "${name}" is not one of ${Object.keys(USUAL_NAMES).join(', ')} with =NAME`,
      )
  }
  return namedFormat('fields', { ...USUAL_NAMES, ...(Object.fromEntries(given) as Partial<FieldNames>) })
}
