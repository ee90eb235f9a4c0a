import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR_MS, SallyportError } from '@sallyport/core'
import { makeFolder, moveInto, replaceFile } from '#files'
import { type FeedState, type Generation, parseState } from './feed-state.ts'
import type { SourceFile } from './source-file.ts'

export type FeedStore = ReturnType<typeof openFeedStore>

/** A file this old is no longer written to: the longest download may take a quarter of an hour. */
const ABANDONED_MS = HOUR_MS

/**
 * Opens the downloads of every feed under `<dataDir>/feeds/<id>/`: the one in use, the one before it, and `state.json`, which
 * says which is which. A download is complete and on the disk before the state names it, and the state is replaced
 * in one rename: a process may die at any point and leaves either the old generation or the new one in use.
 */
export function openFeedStore(dataDir: string) {
  const root = join(dataDir, 'feeds')
  const marker = join(root, 'changed')
  const folder = (id: string) => join(root, id)
  const generationPath = (id: string, generation: Generation) => join(folder(id), `${generation.id}.feed`)

  /** Returns the state of a feed; of another URL nothing is known. */
  function read(id: string, url: string): FeedState {
    const path = join(folder(id), 'state.json')
    const state = existsSync(path) ? parseState(readFileSync(path, 'utf8'), url) : undefined
    return state ?? { url, failures: 0 }
  }

  function isThere(id: string, generation: Generation | undefined): generation is Generation {
    return (
      generation !== undefined &&
      statSync(generationPath(id, generation), { throwIfNoEntry: false })?.size === generation.size
    )
  }

  async function write(id: string, state: FeedState): Promise<void> {
    makeFolder(folder(id))
    await replaceFile(join(folder(id), 'state.json'), `${JSON.stringify(state, null, 2)}\n`)
    await replaceFile(marker, `${id}\n`)
  }

  /** Names the generations that are in use now; their files are on the disk, all others of the feed go. */
  async function commit(id: string, state: FeedState): Promise<void> {
    await write(id, state)
    const kept = [state.current, state.previous].flatMap((generation) => (generation ? [`${generation.id}.feed`] : []))
    for (const name of await readdir(folder(id))) {
      if (name.endsWith('.feed') && !kept.includes(name)) await rm(join(folder(id), name), { force: true })
    }
  }

  return {
    read,
    write,
    /** Returns the file of the generation in use; `undefined` when there is none. */
    file(id: string, url: string): SourceFile | undefined {
      const { current } = read(id, url)
      if (!isThere(id, current)) return undefined
      return { path: generationPath(id, current), size: current.size, modified: current.taken, made: current.made }
    },
    /** Creates a path in the folder of a feed for a file that is not complete yet. */
    async temporary(id: string): Promise<string> {
      makeFolder(folder(id))
      return join(folder(id), `${randomUUID()}.part`)
    },
    /** Takes a complete file, on the disk already, into use; the generation in use becomes the previous one. */
    async take(id: string, temporary: string, generation: Generation, state: FeedState): Promise<void> {
      await moveInto(temporary, generationPath(id, generation))
      await commit(id, state)
    },
    /**
     * Rolls back to the previous generation; the present one is not taken again until its publisher has another. Throws `missing_data` when
     * there is none.
     */
    async rollBack(id: string, url: string): Promise<Generation> {
      const { current, previous, error: _, ...state } = read(id, url)
      if (!isThere(id, previous) || current === undefined) {
        throw new SallyportError('missing_data', `${id}: the source has no previous generation`)
      }
      const refused = 'the operator rolled this version back'
      const seen = state.seen?.id === current.id ? { ...state.seen, refused } : { id: current.id, refused }
      await commit(id, { ...state, current: previous, seen, error: refused })
      return previous
    },
    /** Removes what processes that died have left; `now` is in milliseconds since the epoch. */
    sweep: (now: number): Promise<void> => removeAbandoned(root, now),
    /** Changes whenever any process writes the state of a feed. */
    revision: (): string => stampFile(marker),
  }
}

async function removeAbandoned(root: string, now: number): Promise<void> {
  if (!existsSync(root)) return
  for (const name of await readdir(root, { recursive: true })) {
    if (!name.endsWith('.part') && !name.endsWith('.tmp')) continue
    const written = statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs
    if (written !== undefined && now - written > ABANDONED_MS) await rm(join(root, name), { force: true })
  }
}

/** Changes whenever a file is replaced: its time alone is too coarse for two changes in a row. '' where there is none. */
function stampFile(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino}-${stats.mtimeMs}`
}
