interface Closable {
  close(): Promise<void> | void
}

/** Opened resources, closed in reverse order: at the end, or where a later opening fails. */
export interface DisposeStack {
  /** Waits for a resource to open, adds it to the stack and returns it. */
  use<Resource extends Closable>(opening: Resource | Promise<Resource>): Promise<Resource>
  /** Closes each resource once, however often it is called; one that fails keeps no other open. Rejects with the first error. */
  dispose(): Promise<void>
}

export function createDisposeStack(): DisposeStack {
  const resources: Closable[] = []
  return {
    async use(opening) {
      const resource = await opening
      resources.push(resource)
      return resource
    },
    async dispose() {
      const errors: unknown[] = []
      for (let last = resources.pop(); last !== undefined; last = resources.pop()) {
        try {
          await last.close()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw errors[0]
    },
  }
}
