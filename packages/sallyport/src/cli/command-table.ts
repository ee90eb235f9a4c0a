import type { Command } from 'commander'

export interface OptionRow {
  /** Holds `--plan <plan>`. */
  readonly flags: string
  readonly description: string
  readonly choices: readonly string[]
  /** The default as written; absent where there is none, or where the description says it. */
  readonly initial?: string | undefined
  readonly required: boolean
}

export interface CommandRow {
  /** Holds `keys create`, with its arguments. */
  readonly usage: string
  readonly description: string
  readonly example: string
  readonly options: readonly OptionRow[]
}

export function listCommands(program: Command, examples: Readonly<Record<string, string>>): readonly CommandRow[] {
  return findLeaves(program).map(({ name, command }) => ({
    usage: [name, ...command.registeredArguments.map(argumentText)].join(' '),
    description: command.description(),
    example: ['sallyport', name, examples[name]].filter(Boolean).join(' '),
    options: command.options.map(({ flags, description, argChoices = [], defaultValue, negate, mandatory }) => ({
      flags,
      description,
      choices: argChoices,
      required: mandatory,
      ...(defaultValue !== undefined && !negate && { initial: String(defaultValue) }),
    })),
  }))
}

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
