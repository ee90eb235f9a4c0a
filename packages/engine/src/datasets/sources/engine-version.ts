import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

export const ENGINE_VERSION: string = version
