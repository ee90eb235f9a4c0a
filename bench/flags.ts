/** Returns the text of a flag `--name=text` of this command line. */
export function textFlag(name: string): string | undefined {
  const start = `--${name}=`
  return process.argv.find((argument) => argument.startsWith(start))?.slice(start.length)
}

/** Returns the number of a flag `--name=number` of this command line. */
export function numberFlag(name: string, otherwise: number): number {
  return Number(textFlag(name) ?? otherwise)
}
