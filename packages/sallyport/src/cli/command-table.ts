import type { Command } from 'commander'

/** Lists the commands that act, each with its arguments as in `keys create`, and its options as in `--plan <plan>`. */
export function listCommands(program: Command, examples: Readonly<Record<string, string>>) {
  return findLeaves(program).map(({ name, command }) => ({
    usage: [name, ...command.registeredArguments.map(argumentText)].join(' '),
    description: command.description(),
    example: ['sallyport', name, examples[name]].filter(Boolean).join(' '),
    options: command.options.map(({ flags, description, argChoices = [], defaultValue, negate, mandatory }) => ({
      flags,
      description,
      choices: argChoices,
      required: mandatory,
      // The default as written; the description says another default.
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
