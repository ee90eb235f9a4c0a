export { type FeedServer, madeList, openFeedServer, type Served } from './feed-server.ts'
export { type MmdbForm, type MmdbValue, writeMmdb } from './mmdb-writer.ts'
