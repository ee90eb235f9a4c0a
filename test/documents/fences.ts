import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'

/** A block of code in a document: where it begins, its language, its text. */
export interface Fence {
  readonly place: string
  readonly language: string
  readonly text: string
}

export function tracked(...patterns: readonly string[]): readonly string[] {
  return execFileSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n')
}

export const documents = () => tracked('*.md')

export function readFences(paths: readonly string[]): readonly Fence[] {
  return paths.flatMap((path) => fencesIn(path, readFileSync(join(ROOT, path), 'utf8')))
}

export function docstringFences(): readonly Fence[] {
  const sources = publishedWorkspaces().map(({ folder }) => (folder === 'data' ? 'data/*.ts' : `${folder}/src/*.ts`))
  return tracked(...sources).flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    return [...text.matchAll(/^ *\/\*\*\n(?:.*\n)*?.*\*\//gm)].flatMap(({ 0: comment, index }) => {
      const line = text.slice(0, index).split('\n').length
      return fencesIn(path, comment.replaceAll(/^ *\* ?/gm, ''), line)
    })
  })
}

/** `line` is the number of the text's first line. */
export function fencesIn(path: string, text: string, line = 1): readonly Fence[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: code = '', index }) => ({
    place: `${path}:${line + text.slice(0, index).split('\n').length - 1}`,
    language,
    text: code,
  }))
}
