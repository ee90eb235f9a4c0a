interface Closable {
  close(): Promise<void> | void
}

export type DisposeStack = ReturnType<typeof createDisposeStack>

/** Holds opened resources, and closes them in reverse order: at the end, or where a later opening fails. */
export function createDisposeStack() {
  const resources: Closable[] = []
  return {
    /** Waits for a resource to open, adds it to the stack and returns it. */
    async use<Resource extends Closable>(opening: Resource | Promise<Resource>): Promise<Resource> {
      const resource = await opening
      resources.push(resource)
      return resource
    },
    /** Closes each resource once, however often it is called; one that fails keeps no other open. Rejects with the first error. */
    async dispose(): Promise<void> {
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
