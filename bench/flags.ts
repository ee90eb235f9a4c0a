const flagOf = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3)

/** The number of a flag `--name=number` of this command line. */
export function numberFlag(name: string, otherwise: number): number {
  return Number(flagOf(name) ?? otherwise)
}

/** The text of a flag `--name=text`. */
export function textFlag(name: string): string | undefined {
  return flagOf(name)
}
