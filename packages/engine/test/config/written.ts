import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { ConfigSources } from '../../src/config/read.ts'
import { ConfigError, faultText, readConfigFrom } from '../../src/open/index.ts'

/** Writes a configuration into the folder of a test. */
export function fileIn(t: Test, text: string | Buffer, name = 'sallyport.yaml'): string {
  const file = join(t.testdir(), name)
  writeFileSync(file, text)
  return file
}

/** Lists the faults of a refused configuration, without the folder. */
export function listFaults(sources: ConfigSources): readonly string[] {
  try {
    readConfigFrom(sources)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map((fault) => faultText(fault).replace(/^\/\S+\//, ''))
    throw error
  }
  return []
}
