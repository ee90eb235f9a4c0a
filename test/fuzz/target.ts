import fc, { type Arbitrary } from 'fast-check'

export interface Subject<Input> {
  readonly inputs: Arbitrary<Input>
  check(input: Input): Promise<void> | void
  close?(): Promise<void> | void
}

interface FuzzRun {
  readonly seed: number
  /** Runs this many inputs, or as many as fit into the milliseconds. */
  readonly inputs?: number | undefined
  readonly milliseconds?: number | undefined
  /** Brings back one input of a run with this seed. */
  readonly path?: string | undefined
}

/** Something that reads what strangers send, and what must hold whatever it is. */
export interface FuzzTarget {
  readonly name: string
  /** Resolves with the number of inputs, and the smallest that failed with how to bring it back. */
  fuzz(run: FuzzRun): Promise<{ readonly inputs: number; readonly failure: string | undefined }>
}

export function fuzzTarget<Input>(name: string, open: () => Promise<Subject<Input>>): FuzzTarget {
  return {
    name,
    async fuzz({ seed, inputs = Number.MAX_SAFE_INTEGER, milliseconds, path }) {
      const subject = await open()
      let checked: Promise<void> | undefined
      const property = fc.asyncProperty(subject.inputs, (input) => {
        checked = (async () => void (await subject.check(input)))()
        return checked
      })
      const details = await fc.check(property, {
        seed,
        numRuns: inputs,
        ...(milliseconds !== undefined && { interruptAfterTimeLimit: milliseconds }),
        ...(path !== undefined && { path }),
      })
      // One that the time limit left behind would go on with ports that are another target's by then.
      await checked?.catch(() => {})
      await subject.close?.()
      const failure = details.failed ? `${details.errorInstance}\n${fc.defaultReportMessage(details)}` : undefined
      return { inputs: details.numRuns, failure }
    },
  }
}

/** Nothing that is read may take longer, in milliseconds; far more than the slowest takes on a busy machine. */
const TOO_LONG_MS = 2_000

export function inTime<T>(what: string, work: () => T): T {
  const began = performance.now()
  const done = work()
  if (performance.now() - began > TOO_LONG_MS) throw new Error(`${what} took more than ${TOO_LONG_MS} ms`)
  return done
}
