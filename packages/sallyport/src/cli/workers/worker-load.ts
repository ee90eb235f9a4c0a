import type { Sallyport } from '@sallyport/engine'
import type { WorkerQuestions } from './worker-questions.ts'

export const LOAD = 'load'

const ASK_MS = 1_000

/** Gives rules the highest load of all workers; asks only while a rule reads it. Returns a function that stops it. */
export function shareLoad(load: Sallyport['load'], others: Pick<WorkerQuestions, 'ask'>): () => void {
  let asking = false
  const ask = async (): Promise<void> => {
    asking = true
    const { answers } = await others.ask(LOAD)
    load.takeOthers(Math.max(0, ...answers.filter((answer) => typeof answer === 'number')), performance.now())
    asking = false
  }
  const timer = setInterval(() => {
    if (load.isAsked && !asking) void ask()
  }, ASK_MS).unref()
  return () => clearInterval(timer)
}
