import { Explanation } from '../parts/explanation.tsx'
import { Card, Empty } from '../parts/pieces.tsx'
import { place } from '../route.ts'

/** One request, by a link that can be shared while it is remembered. */
export function OneRequest() {
  const id = place.value.query.get('id') ?? ''
  return <Card title="Explanation">{id === '' ? <Empty>No request is named.</Empty> : <Explanation id={id} />}</Card>
}
