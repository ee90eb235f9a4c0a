import type { AccessFormat } from './format.ts'
import { JSON_FORMATS } from './json-formats.ts'
import { TEXT_FORMATS } from './text-formats.ts'
import { W3C_FORMAT } from './w3c.ts'

/** Every format of access logs that is known, in the order in which a line is held against them. */
export const ACCESS_FORMATS: readonly AccessFormat[] = [...JSON_FORMATS, W3C_FORMAT, ...TEXT_FORMATS]
