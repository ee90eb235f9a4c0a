export { type GuardedService, guardAccounts } from '@sallyport/engine/better-auth'
