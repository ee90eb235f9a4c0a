import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '@sallyport/core'
import type { Config } from './schema.ts'
import { type SchemaNode, schemaTree } from './tree.ts'

/** The result of a reload; paths of keys, joined by dots. */
export interface Reloaded {
  /** Keys whose new values are in force. */
  readonly changed: readonly string[]
  /** Keys whose new values are in force after a restart only. */
  readonly needRestart: readonly string[]
}

/**
 * The configuration in force after a reload, by the word `live` of the schema: of what needs a restart, the values before.
 * Every key of the top is there, `undefined` where it is absent, so that what is removed replaces what was.
 */
export function takeOver(before: Config, after: Config): Reloaded & { readonly config: Config } {
  const changed: string[] = []
  const needRestart: string[] = []
  const walk = (node: SchemaNode | undefined, one: unknown, other: unknown, path: string, live: boolean): unknown => {
    if (node?.properties !== undefined && isRecord(one) && isRecord(other)) {
      const merged = Object.entries(node.properties).map(([key, inner]) => {
        const within = path === '' ? key : `${path}.${key}`
        return [key, walk(inner, one[key], other[key], within, inner.live ?? live)] as const
      })
      return Object.fromEntries(path === '' ? merged : merged.filter(([, value]) => value !== undefined))
    }
    if (isDeepStrictEqual(one, other)) return one
    const list = live ? changed : needRestart
    list.push(path)
    return live ? other : one
  }
  return { config: walk(schemaTree(), before, after, '', false) as Config, changed, needRestart }
}
