import type { Command } from 'commander'

/** An option of a command. */
export interface OptionRow {
  /** `--plan <plan>` */
  readonly flags: string
  readonly description: string
  readonly choices: readonly string[]
  /** As it is written; absent where there is none, or where the description says it. */
  readonly initial?: string | undefined
  readonly required: boolean
}

/** A command that does something, as the documents list it. */
export interface CommandRow {
  /** `keys create`, with its arguments. */
  readonly usage: string
  readonly description: string
  readonly example: string
  readonly options: readonly OptionRow[]
}

/** Every command below one, with what is said of it there. */
export function listCommands(program: Command, examples: Readonly<Record<string, string>>): readonly CommandRow[] {
  return findLeaves(program).map(({ name, command }) => ({
    usage: [name, ...command.registeredArguments.map(argumentText)].join(' '),
    description: command.description(),
    example: ['sallyport', name, examples[name]].filter((part) => part !== '').join(' '),
    options: command.options.map(({ flags, description, argChoices = [], defaultValue, negate, mandatory }) => ({
      flags,
      description,
      choices: argChoices,
      required: mandatory,
      ...(defaultValue !== undefined && !negate && { initial: String(defaultValue) }),
    })),
  }))
}

/** A command that has no others within, by its whole name. */
export function findLeaves(
  command: Command,
  path = '',
): readonly { readonly name: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ name: path, command }]
  return command.commands.flatMap((inner) => findLeaves(inner, path === '' ? inner.name() : `${path} ${inner.name()}`))
}

function argumentText(argument: Command['registeredArguments'][number]): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name()
  return argument.required ? `<${name}>` : `[${name}]`
}
