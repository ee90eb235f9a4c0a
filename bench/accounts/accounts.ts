import { isSharedDataHere } from '../accuracy/shared.ts'
import type { Run } from '../report/run.ts'
import { benchUserMemory } from './memory.ts'
import { benchThrowaway } from './throwaway.ts'
import { benchTravel } from './travel.ts'

/** Counts false alarms of the protection of accounts, and measures what it remembers. */
export async function benchAccounts(run: Run): Promise<void> {
  if (isSharedDataHere) await benchTravel(run)
  else run.skip('no labelled networks are here (SALLYPORT_SHARED_DATA names the folder)')
  await benchUserMemory(run)
  await benchThrowaway(run)
}
