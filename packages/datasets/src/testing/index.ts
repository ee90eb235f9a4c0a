export { type MmdbForm, type MmdbValue, writeMmdb } from './mmdb-writer.ts'
