import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting, syntaxTree } from '@codemirror/language'
import { type Diagnostic, linter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'preact/hooks'
import type { Answer } from '../api.ts'
import { ITEM, proposalsAt, type SchemaNode } from './schema.ts'

type Checked = Answer<'POST', 'policy/check'>

const COLOURS = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.propertyName, color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--flag)' },
  { tag: tags.keyword, color: 'var(--api)' },
])

const LOOK = EditorView.theme({
  '&': { backgroundColor: 'var(--ground)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '6px' },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--card)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-tooltip': { backgroundColor: 'var(--card)', color: 'var(--ink)', border: '1px solid var(--line)' },
  // The library's pictures are data: URLs, which the page's policy does not permit.
  '.cm-lintRange-error, .cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--block)',
  },
  // One font for the whole editor keeps the numbers as high as their lines.
  '.cm-scroller': {
    fontFamily: 'ui-monospace, Menlo, "DejaVu Sans Mono", monospace',
    fontSize: '13.5px',
    lineHeight: '1.45',
    maxHeight: '28rem',
    minHeight: '12rem',
  },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': {
    backgroundColor: 'color-mix(in srgb, var(--focus) 30%, transparent) !important',
  },
})

/** Edits YAML: proposes what the schema permits, and asks the server for faults; `initial` is the first text. */
export function Editor({
  label,
  initial,
  schema,
  onText,
  check,
}: {
  label: string
  initial: string
  schema: SchemaNode
  onText: (text: string) => void
  check: (text: string) => Promise<Checked>
}) {
  const place = useRef<HTMLDivElement>(null)
  const hooks = useRef({ onText, check })
  hooks.current = { onText, check }

  useEffect(() => {
    const { current } = place
    if (current === null) return
    // Within a shadow root the editor adopts style sheets, which the page's policy permits; elsewhere it writes them inline.
    const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({ doc: initial, extensions: listExtensions(label, schema, hooks) }),
    })
    return () => editor.destroy()
  }, [label, schema])

  return <div class="editor" ref={place} />
}

interface Hooks {
  readonly current: { readonly onText: (text: string) => void; readonly check: (text: string) => Promise<Checked> }
}

function listExtensions(label: string, schema: SchemaNode, hooks: Hooks) {
  return [
    lineNumbers(),
    history(),
    yaml(),
    syntaxHighlighting(COLOURS),
    LOOK,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    autocompletion({ override: [(context) => complete(context, schema)], activateOnTyping: true }),
    linter(async (editor) => listDiagnostics(editor, await hooks.current.check(editor.state.doc.toString())), {
      delay: 350,
    }),
    // The browser handles Tab, so that keyboard users can leave the editor.
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) hooks.current.onText(state.doc.toString())
    }),
  ]
}

function listDiagnostics({ state: { doc } }: EditorView, { faults, warnings }: Checked): readonly Diagnostic[] {
  const found = [
    ...faults.map((fault) => ({ ...fault, severity: 'error' as const })),
    ...warnings.map((fault) => ({ ...fault, severity: 'warning' as const })),
  ]
  return found.map(({ line, rule, key, message, severity }) => {
    const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines))
    return { from, to, severity, message: [rule && `rule "${rule}"`, key, message].filter(Boolean).join(': ') }
  })
}

/** Proposes names of keys where a key begins, and words where a value begins. */
function complete(context: CompletionContext, schema: SchemaNode): CompletionResult | null {
  const word = context.matchBefore(/[\w-]*/)
  if (word === null || (word.from === word.to && !context.explicit)) return null
  const { path, isKey } = placeAt(context)
  const { keys, values } = proposalsAt(schema, path)
  const options = [
    ...keys.map(({ label, detail }) => ({ label, type: 'property', apply: `${label}: `, info: detail })),
    // An entry begun in a list is read as a key until it is whole.
    ...(isKey && keys.length > 0 ? [] : values.map(({ label, apply = label }) => ({ label, apply, type: 'enum' }))),
  ]
  return options.length === 0 ? null : { from: word.from, options, validFor: /^[\w-]*$/ }
}

type SyntaxNode = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>

/** Returns the steps that lead from the top of the document to the cursor. */
function placeAt({ state, pos }: CompletionContext): {
  readonly path: readonly (string | typeof ITEM)[]
  readonly isKey: boolean
} {
  const path: (string | typeof ITEM)[] = []
  let isKey = false
  for (let node: SyntaxNode | null = syntaxTree(state).resolveInner(pos, -1); node !== null; node = node.parent) {
    if (node.name === 'Key') isKey = true
    else if (node.name === 'Item') path.unshift(ITEM)
    else if (node.name === 'Pair') {
      const key = node.getChild('Key')
      // The key being written leads nowhere yet.
      if (key !== null && !(key.from <= pos && pos <= key.to)) path.unshift(state.sliceDoc(key.from, key.to).trim())
    }
  }
  return { path, isKey }
}
