import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'

/** A kind of service, as the table of the documents groups them. */
export type ServiceKind =
  | 'webhooks'
  | 'health checks'
  | 'monitors'
  | 'podcasts and calendars'
  | 'applications'
  | 'federation'
  | 'feeds'
  | 'mail images'
  | 'previews and checkers'
  | 'updates'
  | 'people'

/** A program or a browser that a site wants, as it asks. Facts are of the service's documents or of recorded requests. */
export interface Service {
  readonly name: string
  readonly kind: ServiceKind
  /** Names the source of the facts. */
  readonly from: string
  readonly ip: string
  readonly method?: 'GET' | 'HEAD' | 'POST' | undefined
  readonly path: string
  /** Has the fields beside Host. */
  readonly headers: Readonly<Record<string, string>>
  /** Requests of a client in a minute. */
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
