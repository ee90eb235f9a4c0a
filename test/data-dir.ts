import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

/** A dataDir that every test of this workspace may use: the embedded data is compiled in it once. */
export const DATA_DIR = mkdtempSync(join(tmpdir(), 'sallyport-test-'))
t.teardown(() => rmSync(DATA_DIR, { recursive: true }))
