import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'

/** A program or a browser that a site wants, as it asks. Facts are of the service's documents or of recorded requests. */
export interface Service {
  readonly name: string
  /** It is a group of the table of the documents: `webhooks`, `people`. */
  readonly kind: string
  readonly from: string
  readonly ip: string
  readonly method?: 'GET' | 'HEAD' | 'POST' | undefined
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly perMinute: number
  /** Clients with addresses beside each other's that ask as often in the same minute; default 1. */
  readonly clients?: number | undefined
  readonly trustProxy?: readonly string[] | undefined
  readonly httpVersion?: string | undefined
}

/** The services that no preset refuses, but where its document says so: a row of `services.jsonl` each. */
export const SERVICES: readonly Service[] = readFileSync(join(ROOT, 'test/services/services.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Service)
