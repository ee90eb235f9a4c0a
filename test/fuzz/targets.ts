import { answers } from './answers.ts'
import { CHALLENGE } from './challenge.ts'
import { headers } from './headers.ts'
import { HTTP2 } from './http2.ts'
import { mcp } from './mcp.ts'
import { READERS } from './readers.ts'
import type { FuzzTarget } from './target.ts'
import { WIRE } from './wire.ts'

/** Everything that reads what strangers send. */
export const TARGETS: readonly FuzzTarget[] = [...READERS, headers, mcp, ...WIRE, ...HTTP2, answers, ...CHALLENGE]
