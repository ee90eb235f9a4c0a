export * from './fakes.ts'
export * from './random.ts'
