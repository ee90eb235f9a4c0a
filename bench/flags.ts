/** The number of a flag `--name=number` of this command line. */
export function numberFlag(name: string, otherwise: number): number {
  const flag = process.argv.find((argument) => argument.startsWith(`--${name}=`))
  return Number(flag?.slice(name.length + 3) ?? otherwise)
}
