import { readFileSync } from 'node:fs'

const MANIFEST = new URL('../../../../package.json', import.meta.url)

export const ENGINE_VERSION: string = JSON.parse(readFileSync(MANIFEST, 'utf8')).version
