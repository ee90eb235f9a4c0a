import t from 'tap'
import { makeFolder } from './started.ts'

/** A dataDir that every test of this workspace may use: the embedded data is compiled in it once. */
export const DATA_DIR = makeFolder(t)
