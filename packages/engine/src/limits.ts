export * from './open/config/limits.ts'
