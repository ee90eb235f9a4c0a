/** Holds a promise and what a run found about it. */
export interface Finding {
  readonly name: string
  readonly promise: string
  readonly measured: string
  readonly outcome: 'pass' | 'FAIL'
}

/** A run's measurements of a promise, and every way in which it does not hold. */
export interface Measured {
  readonly measured: string
  readonly broken: readonly string[]
}

export function makeFinding(name: string, promise: string, { measured, broken }: Measured): Finding {
  return {
    name,
    promise,
    measured: [measured, ...broken].filter((text) => text !== '').join('; '),
    outcome: broken.length === 0 ? 'pass' : 'FAIL',
  }
}

/** The last thing a run says: every promise with what was measured; the exit code is 1 where one does not hold. */
export function reportFindings(title: string, findings: readonly Finding[]): void {
  console.log(`\n${title}`)
  for (const { name, promise, measured, outcome } of findings) {
    console.log(`${outcome}  ${name}  ${promise}\n      ${measured}`)
  }
  const count = (wanted: Finding['outcome']) => findings.filter(({ outcome }) => outcome === wanted).length
  console.log(`\n${count('pass')} pass, ${count('FAIL')} fail`)
  if (count('FAIL') > 0) process.exitCode = 1
}

/** Writes seconds as minutes and seconds. */
export function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`
}
