export * from './settings/limits.ts'
