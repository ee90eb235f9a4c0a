import fc, { type Arbitrary } from 'fast-check'

/** An open target: inputs, and what must hold of each. */
export interface Subject<Input> {
  readonly inputs: Arbitrary<Input>
  /** Throws where something that must hold does not. */
  check(input: Input): Promise<void> | void
  close(): Promise<void> | void
}

export interface FuzzRun {
  readonly seed: number
  /** Runs this many inputs, or as many as fit into the milliseconds. */
  readonly inputs?: number | undefined
  readonly milliseconds?: number | undefined
  /** Brings back one input of a run with this seed. */
  readonly path?: string | undefined
}

/** Outcome of a run; `failure` has the smallest input that was found, and how to bring it back. */
export interface Fuzzed {
  readonly inputs: number
  readonly failure?: string | undefined
}

/** Something that reads what strangers send, and what must hold whatever it is. */
export interface FuzzTarget {
  readonly name: string
  fuzz(run: FuzzRun): Promise<Fuzzed>
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
      await subject.close()
      const failure = details.failed ? `${details.errorInstance}\n${fc.defaultReportMessage(details)}` : undefined
      return { inputs: details.numRuns, ...(failure !== undefined && { failure }) }
    },
  }
}

/** Nothing that is read may take longer, in milliseconds; far more than the slowest takes on a busy machine. */
const TOO_LONG_MS = 2_000

/** Does something and says where it hangs. */
export function inTime<T>(what: string, work: () => T): T {
  const began = performance.now()
  const done = work()
  const took = performance.now() - began
  if (took > TOO_LONG_MS) throw new Error(`${what} took ${Math.round(took)} ms`)
  return done
}
