import { createHash } from 'node:crypto'
import { type Html, html, join, text } from './html.ts'
import { type SchemaNode, schemaSection, typeText } from './schemas.ts'
import { STYLE } from './style.ts'

/** Content policy of the page: one style, known by its hash, and nothing else. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean | undefined
  readonly description?: string | undefined
  readonly schema: SchemaNode
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string | undefined
  readonly security?: readonly unknown[] | undefined
  readonly parameters?: readonly Parameter[] | undefined
  readonly requestBody?: { readonly content: Content } | undefined
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content | undefined }>>
  readonly 'x-example'?: { readonly path: string; readonly body?: unknown } | undefined
}

type Content = Readonly<Record<string, { readonly schema: SchemaNode }>>

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, SchemaNode>> }
}

interface Described extends Operation {
  readonly method: string
  readonly path: string
}

/** The reference as one page of HTML, read off the OpenAPI document; `base` is what stands before /v1. */
export function docsPage(document: unknown, base: string): string {
  const { info, paths, components } = document as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Described => ({ ...operation, method: method.toUpperCase(), path }),
    ),
  )
  const tags = [...new Set(operations.flatMap(({ tags }) => tags))]
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API ${info.version}</title><style>${raw(STYLE)}</style></head>
<body><header><h1>${info.title} API <small>${info.version}</small></h1><p>${prose(info.description)}</p>
<p>The same for programs: <a href="${base}/v1/openapi.json">openapi.json</a>. Keyed operations need
<code>Authorization: Bearer &lt;API_KEY&gt;</code>. Errors are JSON with <code>error</code>, <code>message</code> and <code>details</code>.</p></header>
<nav aria-label="Operations">${join(tags.map((tag) => navOf(tag, operations)))}</nav>
<main>${join(tags.map((tag) => sectionOf(tag, operations, base)))}
<section><h2 id="schemas">Structures</h2>${join(Object.entries(components.schemas).map(([name, node]) => schemaSection(name, node)))}</section></main>
</body></html>
`
  return text(page)
}

function navOf(tag: string, operations: readonly Described[]): Html {
  const rows = operations
    .filter(({ tags }) => tags.includes(tag))
    .map(({ operationId, method, path }) => html`<li><a href="#${operationId}"><b>${method}</b> ${path}</a></li>`)
  return html`<h2>${tag}</h2><ul>${join(rows)}</ul>`
}

function sectionOf(tag: string, operations: readonly Described[], base: string): Html {
  const own = operations.filter(({ tags }) => tags.includes(tag))
  return html`<section><h2>${tag}</h2>${join(own.map((operation) => operationOf(operation, base)))}</section>`
}

function operationOf(operation: Described, base: string): Html {
  const {
    operationId,
    method,
    path,
    summary,
    description,
    security,
    parameters = [],
    requestBody,
    responses,
  } = operation
  const isKeyed = security === undefined
  const body = requestBody?.content['application/json']?.schema
  return html`<article id="${operationId}"><h3><b>${method}</b> <code>${base}${path}</code></h3>
<p>${prose(summary)} ${isKeyed ? html`<em>Needs a key.</em>` : html`<em>Open to all.</em>`}</p>
${description === undefined ? '' : html`<p>${prose(description)}</p>`}
${parameters.length === 0 ? '' : html`<table><caption>Parameters</caption><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr>${join(parameters.map(parameterRow))}</table>`}
${body === undefined ? '' : html`<p>Body: ${typeText(body)}</p>`}
<pre tabindex="0">${curlOf(operation, base, isKeyed)}</pre>
<table><caption>Answers</caption><tr><th>Status</th><th>Meaning</th><th>Content</th></tr>${join(Object.entries(responses).map(answerRow))}</table></article>`
}

function parameterRow({ name, in: place, required, description, schema }: Parameter): Html {
  return html`<tr><td><code>${name}</code>${required ? '' : ' (optional)'}</td><td>${place}</td><td>${typeText(schema)}</td><td>${prose(description ?? schema.description ?? '')}</td></tr>`
}

function answerRow([status, { description, content = {} }]: readonly [
  string,
  { readonly description: string; readonly content?: Content | undefined },
]): Html {
  const types = Object.entries(content).map(([type, { schema }]) => html`${typeText(schema)} <small>${type}</small>`)
  return html`<tr><td>${status}</td><td>${prose(description)}</td><td>${join(types)}</td></tr>`
}

function curlOf({ method, path, 'x-example': example }: Described, base: string, isKeyed: boolean): string {
  const { path: asked = path, body } = example ?? {}
  return [
    `curl "$HOST${base}${asked}"`,
    ...(isKeyed ? ["-H 'Authorization: Bearer <API_KEY>'"] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`]),
    ...(method === 'POST' && body === undefined ? ['-X POST'] : []),
  ].join(' \\\n  ')
}

/** A sentence with its `words` as code. */
function prose(sentence: string): Html {
  return join(
    sentence
      .split(/`([^`]{1,200})`/)
      .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`)),
  )
}

function raw(markup: string): Html {
  return { markup }
}
