/** Returns no flags where the process has `--input-type`, with which no thread starts; `undefined` gives a thread the flags of the process. */
export function threadFlags(): string[] | undefined {
  return process.execArgv.some((flag) => flag.startsWith('--input-type')) ? [] : undefined
}
