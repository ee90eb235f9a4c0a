/** Returns the flags of this process for its threads. A thread does not start with that of an inline script, `--input-type`. */
export function threadFlags(): string[] {
  return process.execArgv.filter((flag, at, all) => !flag.startsWith('--input-type') && all[at - 1] !== '--input-type')
}
