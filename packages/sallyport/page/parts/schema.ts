/** A node of a JSON schema, as far as the editor needs it. */
export interface SchemaNode {
  readonly description?: string | undefined
  readonly type?: string | undefined
  readonly properties?: Readonly<Record<string, SchemaNode>> | undefined
  readonly additionalProperties?: SchemaNode | boolean | undefined
  readonly items?: SchemaNode | undefined
  readonly anyOf?: readonly SchemaNode[] | undefined
  readonly oneOf?: readonly SchemaNode[] | undefined
  readonly enum?: readonly unknown[] | undefined
  readonly const?: unknown
}

export const ITEM = Symbol('item')

interface Proposal {
  readonly label: string
  readonly detail?: string | undefined
  /** Writes the label as YAML, where a version of HTTP would be a number without quotes. */
  readonly apply?: string | undefined
}

/** Returns the names of keys, and the values, that a place permits. */
export function proposalsAt(
  schema: SchemaNode,
  path: readonly (string | typeof ITEM)[],
): { readonly keys: readonly Proposal[]; readonly values: readonly Proposal[] } {
  const nodes = path.reduce<readonly SchemaNode[]>(
    (nodes, step) => nodes.flatMap((node) => listVariants(node)).flatMap((node) => within(node, step)),
    [schema],
  )
  const variants = nodes.flatMap(listVariants)
  const keys = new Map<string, Proposal>()
  const values = new Map<string, Proposal>()
  for (const { properties = {}, enum: words = [], const: word, type } of variants) {
    for (const [label, { description }] of Object.entries(properties)) {
      keys.set(label, { label, detail: description })
    }
    for (const value of [
      ...words,
      ...(word === undefined ? [] : [word]),
      ...(type === 'boolean' ? [true, false] : []),
    ]) {
      const label = String(value)
      const isNumeric = typeof value === 'string' && /^[\d.]+$/.test(value)
      values.set(label, { label, apply: isNumeric ? JSON.stringify(value) : label })
    }
  }
  return { keys: [...keys.values()], values: [...values.values()] }
}

function listVariants(node: SchemaNode): readonly SchemaNode[] {
  const others = [...(node.anyOf ?? []), ...(node.oneOf ?? [])]
  return [node, ...others.flatMap(listVariants)]
}

function within(
  { properties, additionalProperties, items }: SchemaNode,
  step: string | typeof ITEM,
): readonly SchemaNode[] {
  if (step === ITEM) return items === undefined ? [] : [items]
  const found = properties?.[step] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  return found === undefined ? [] : [found]
}
