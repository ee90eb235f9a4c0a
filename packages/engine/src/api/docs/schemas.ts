import { type Html, html, join } from './html.ts'

/** A node of a JSON schema, as far as it is shown. */
export interface SchemaNode {
  readonly type?: string | readonly string[] | undefined
  readonly description?: string | undefined
  readonly format?: string | undefined
  readonly $ref?: string | undefined
  readonly enum?: readonly unknown[] | undefined
  readonly const?: unknown
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly default?: unknown
  readonly items?: SchemaNode | undefined
  readonly anyOf?: readonly SchemaNode[] | undefined
  readonly oneOf?: readonly SchemaNode[] | undefined
  readonly allOf?: readonly SchemaNode[] | undefined
  readonly properties?: Readonly<Record<string, SchemaNode>> | undefined
  readonly required?: readonly string[] | undefined
  readonly additionalProperties?: SchemaNode | boolean | undefined
}

const MAX_WORDS = 30

/** A structure with its members. */
export function schemaSection(name: string, node: SchemaNode): Html {
  const rows = membersOf(node).map(
    ([member, inner, isRequired]) =>
      html`<tr><td><code>${member}</code>${isRequired ? '' : ' (may be absent)'}</td><td>${typeText(inner)}</td><td>${inner.description ?? ''}</td></tr>`,
  )
  const table =
    rows.length === 0
      ? html`<p>${typeText(node)}</p>`
      : html`<table><tr><th>Member</th><th>Type</th><th>Meaning</th></tr>${join(rows)}</table>`
  return html`<article id="schema-${name}"><h3>${name}</h3>${node.description === undefined ? '' : html`<p>${node.description}</p>`}${table}</article>`
}

function membersOf(node: SchemaNode): readonly (readonly [string, SchemaNode, boolean])[] {
  const inherited = (node.allOf ?? []).flatMap(membersOf)
  const own = Object.entries(node.properties ?? {}).map(
    ([name, inner]) => [name, inner, node.required?.includes(name) ?? false] as const,
  )
  return [...inherited, ...own]
}

/** A type in words, with links to structures. */
export function typeText(node: SchemaNode): Html {
  if (node.$ref !== undefined) {
    const name = node.$ref.slice(node.$ref.lastIndexOf('/') + 1)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  const several = node.anyOf ?? node.oneOf ?? node.allOf
  if (several !== undefined)
    return join(several.map((one, index) => html`${index === 0 ? '' : ' or '}${typeText(one)}`))
  if (node.const !== undefined) return html`<code>${JSON.stringify(node.const)}</code>`
  if (node.enum !== undefined) {
    const shown = node.enum.slice(0, MAX_WORDS).map((word) => html`<code>${String(word)}</code> `)
    return html`${join(shown)}${node.enum.length > MAX_WORDS ? '…' : ''}`
  }
  if (node.items !== undefined) return html`list of ${typeText(node.items)}`
  const type = typeof node.type === 'string' ? node.type : (node.type?.join(' or ') ?? 'anything')
  const bounds = [
    node.format,
    node.minimum === undefined ? undefined : `from ${node.minimum}`,
    node.maximum === undefined ? undefined : `to ${node.maximum}`,
    node.default === undefined ? undefined : `default ${JSON.stringify(node.default)}`,
  ].filter((part) => part !== undefined)
  return html`${type}${bounds.length === 0 ? '' : ` (${bounds.join(', ')})`}`
}
