export type * from './outside.ts'
export type * from './snapshot.ts'
export type * from './tables.ts'
