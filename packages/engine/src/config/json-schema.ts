import { z } from 'zod'
import { Config } from './schema.ts'
import { REFERENCE } from './secrets.ts'

/** The JSON schema of the configuration, for editors: it refuses nothing that is read, and completes what is written. */
export function configSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(Config, {
    io: 'input',
    override({ jsonSchema }) {
      const { secret, unit, least, most, initial: _, file: __, live: ___, example, ...node } = jsonSchema
      const bounds = least === undefined ? '' : `, ${least} to ${most}`
      const described = {
        ...node,
        ...(unit !== undefined && { description: `${node.description} (${unit}${bounds})` }),
        ...(example !== undefined && { examples: [example] }),
      }
      replace(jsonSchema, secret === true ? withReference(described) : described)
    },
  })
  return { ...schema, title: 'sallyport.yaml' }
}

/** A secret may be named instead of written. */
function withReference({ description, examples, ...plain }: z.core.JSONSchema.BaseSchema): object {
  return { description, examples, anyOf: [plain, { type: 'string', pattern: REFERENCE.source }] }
}

function replace(node: object, by: object): void {
  for (const name of Object.keys(node)) Reflect.deleteProperty(node, name)
  Object.assign(node, by)
}
