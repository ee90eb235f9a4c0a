import type { Decision } from 'sallyport'

declare global {
  namespace App {
    interface Locals {
      sallyport?: Decision | undefined
    }
  }
}
