import { z } from 'zod'
import { Config } from './schema.ts'
import { REFERENCE } from './secrets.ts'

/** The JSON schema of the configuration, for editors: it refuses nothing that is read, and completes what is written. */
export function configSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(Config, {
    io: 'input',
    override({ jsonSchema }) {
      const { secret, unit, least, most, initial: _, ...node } = jsonSchema
      if (secret === true) {
        const { description, ...plain } = node
        replace(jsonSchema, { description, anyOf: [plain, { type: 'string', pattern: REFERENCE.source }] })
      } else if (unit !== undefined) {
        replace(jsonSchema, { ...node, description: `${node.description} (${unit}, ${least} to ${most})` })
      }
    },
  })
  return { ...schema, title: 'sallyport.yaml' }
}

function replace(node: object, by: object): void {
  for (const name of Object.keys(node)) Reflect.deleteProperty(node, name)
  Object.assign(node, by)
}
