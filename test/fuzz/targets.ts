import { answers } from './answers.ts'
import { cookies } from './challenge.ts'
import { headers } from './headers.ts'
import { HTTP2 } from './http2.ts'
import { mcp } from './mcp.ts'
import { READERS } from './readers.ts'
import type { FuzzTarget } from './target.ts'
import { WIRE } from './wire.ts'

export const TARGETS: readonly FuzzTarget[] = [...READERS, headers, mcp, ...WIRE, ...HTTP2, answers, cookies]
