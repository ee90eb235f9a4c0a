/** The number of a flag `--name=number` of this command line. */
export function numberFlag(name: string, otherwise: number): number {
  const start = `--${name}=`
  const flag = process.argv.find((argument) => argument.startsWith(start))
  return flag === undefined ? otherwise : Number(flag.slice(start.length))
}
